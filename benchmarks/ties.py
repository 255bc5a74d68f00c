"""How many seeds of the paper's ER are stuck on MountainCar, by the rule for equal values.

`python benchmarks/ties.py FILE` adds this machine to FILE; what is there is not trained again.
Without FILE it prints `results/ties.json`. A seed is stuck if none of its evaluations is above
-1000.
"""

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax

import freqdyna

STORED = Path(__file__).parents[1] / "results" / "ties.json"
CASES = [(ties, waits) for waits in (False, True) for ties in ("random", "first")]


def processor() -> str:
    """What computes: the name of the GPU, or of the CPU."""
    if jax.default_backend() != "cpu":
        return str(jax.devices()[0].device_kind)
    lines = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    return next(x.split(":")[1].strip() for x in lines.splitlines() if "Model name" in x)


def train(file: Path) -> None:
    """Train each case that the file lacks on this processor."""
    stored = json.loads(file.read_text()) if file.exists() else []
    for ties, waits in CASES:
        case = {"processor": processor(), "ties": ties, "updates wait for the warm-up": waits}
        if any(case.items() <= row.items() for row in stored):
            continue
        settings: dict[str, Any] = {
            "learner.ties": ties,
            "learn_in_warmup": not waits,
            "planning_steps": 10,
        }
        result = freqdyna.train(
            "MountainCar-v0", algorithm="er", preset="paper", seeds=100, steps=50_000, **settings
        )
        row = {**case, "date": datetime.date.today().isoformat(), "jax": jax.__version__}
        stored.append({**row, "best return of each seed": result.returns.max(1).tolist()})
        file.write_text(json.dumps(stored) + "\n")


def table() -> None:
    """Print the number of stuck seeds."""
    for row in json.loads(STORED.read_text()):
        best = row["best return of each seed"]
        waits = "after the warm-up" if row["updates wait for the warm-up"] else "from the start"
        stuck = f"{sum(value <= -1000 for value in best)} of {len(best)}"
        print(f"| {row['processor']} | {waits} | {row['ties']} | {stuck} |")


if __name__ == "__main__":
    train(Path(sys.argv[1])) if len(sys.argv) > 1 else table()
