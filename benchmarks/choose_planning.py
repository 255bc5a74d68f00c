"""How the default of `dyna` with a learned model is chosen, so that planning does not hurt.

The rule, written on 2026-11-18 before the first training of it. Before, `td-error` with 50
candidates had been tried on GridWorld, CartPole and MountainCar (8 seeds from 3000, 8,000 steps).

- Development domains: Acrobot, CartPole, MountainCar, GridWorld and PuddleWorld as built in, 20
  seeds from 4000, 20,000 steps, 5 greedy episodes every 500 steps. Nothing is known beforehand:
  the model learns termination, and searches stay in the range of the visited states.
- The learner is that of the second rule of `choose_defaults.py`, for all candidates.
- The score of a domain is that of `choose_defaults.py`, less that of the better of `er` and `er`
  with twice the updates. The score of a candidate is that of its worst domain. Among candidates
  within one standard error of the highest score, the highest mean over the domains decides.
- A candidate is allowed if its step takes at most 2.5 times that of `er` on two cores.
- At most 60 trainings. If no candidate has a score above -0.03, none becomes the default.
- Changed before the first training: `frequency`, a quarter simulated and 50 telling events made
  room for candidates near the visited states, as a box with many coordinates is mostly empty.
- The winner is confirmed once, with seeds from 0: MazeGridWorld, TubeGridWorld-4, LunarLander,
  Docking, and an environment that is written independently after the choice.

Chosen on 2026-11-18, from 60 trainings on one H200: `td-error` with candidates five steps away from
visited states. Uniform states have the highest score (-0.009) and a mean of 0.0027; this candidate
is within one standard error (-0.012) and has a mean of 0.0031. It is the default where the state
space is not known. Its step takes 1.95 times that of `er` on two cores (`planning_cells.py cost`).

With trust "always", a random member of the ensemble answered; today it is the mean of all.

`benchmarks/pool.py` trains what is missing; `python benchmarks/choose_planning.py collect FOLDER`
adds it to `results/planning.parquet`, and `table` prints the scores.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from choose_defaults import BASE, EVAL_EVERY, SEEDS, STEPS, place, score

import freqdyna
from freqdyna.agents.dyna import scale

STORED = Path(__file__).parents[1] / "results" / "planning.parquet"
DOMAINS = ("Acrobot-v1", "CartPole-v1", "MountainCar-v0", "GridWorld", "PuddleWorld")
LEARNER: dict[str, Any] = {
    **{**BASE, "learner.loss": "huber", "learner.n_step": 3},
    **{"replay.prioritized_share": 0.5, "batch_size": 64},
}
TWICE = "er, 20 updates"


DYNA: dict[str, Any] = {"algorithm": "dyna", "model": "ensemble"}
UNIFORM, NEARBY = ({"search_control.uniform": uniform} for uniform in (True, False))
TD_ERROR = {**DYNA, "search_control": "td-error", "search_control.candidates": 50, **UNIFORM}
CANDIDATES: dict[str, dict[str, Any]] = {
    "er": {"algorithm": "er"},
    TWICE: {"algorithm": "er", "planning_steps": 20},
    "td-error": TD_ERROR,
    "td-error, no optimism": {**TD_ERROR, "trust.optimism": 0.0},
    "td-error, as many simulated as stored": {**TD_ERROR, "planning.simulated_share": 1.0},
    "td-error, two model updates": {**TD_ERROR, "planning.model_updates": 2},
    "td-error, trust always": {**TD_ERROR, "trust": "always"},
    "replay": {**DYNA, "search_control": "replay"},
    "uniform": {**DYNA, "search_control": "uniform"},
    "td-error, visited states": {**TD_ERROR, **NEARBY, "search_control.reach": 0.0},
    "td-error, a step away": {**TD_ERROR, **NEARBY, "search_control.reach": 1.0},
    "td-error, five steps away": {**TD_ERROR, **NEARBY, "search_control.reach": 5.0},
}


def units() -> list[tuple[str, str]]:
    """All trainings: candidate and domain."""
    return [(name, env) for name in CANDIDATES for env in DOMAINS]


def file_of(folder: Path, unit: tuple[str, str]) -> Path:
    """Where a training is stored before it is collected."""
    return place(folder, *unit)


def train(folder: Path, unit: tuple[str, str]) -> None:
    """Train one candidate on one domain, and store its returns of shape (seeds, evaluations)."""
    began, (name, env) = time.monotonic(), unit
    settings = {**LEARNER, **CANDIDATES[name]}
    scale.MOST_RANGES = math.inf  # as in the second rule
    result = freqdyna.train(
        env, seeds=SEEDS, first_seed=4000, steps=STEPS, eval_every=EVAL_EVERY, **settings
    )
    np.savez(
        place(folder, name, env),
        returns=result.returns,
        trust=result.metrics.get("trust", np.nan),
        target_error=result.metrics.get("target_error", np.nan),
        seconds=time.monotonic() - began,
        settings=json.dumps(settings, default=str),
    )


def stored_rows() -> dict[tuple[str, str], dict[str, Any]]:
    """What the file has, by candidate and domain."""
    import pyarrow.parquet as pq

    rows = pq.read_table(STORED).to_pylist() if STORED.exists() else []
    return {(row["candidate"], row["env"]): row for row in rows}


def stored_names() -> set[str]:
    """The files of the trainings that were collected."""
    return {place(Path(), *unit).name for unit in stored_rows()}


def collect(folder: Path) -> None:
    """Add all trainings of a folder to the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = stored_rows()
    for name, env in units():
        if (path := place(folder, name, env)).exists():
            with np.load(path) as stored:
                weights = stored["trust"][np.isfinite(stored["trust"])]
                rows[name, env] = {
                    **{"candidate": name, "env": env, "settings": str(stored["settings"])},
                    "returns": stored["returns"].tolist(),
                    "trust": float(weights.mean()) if weights.size else None,
                }
    pq.write_table(pa.Table.from_pylist(list(rows.values())), STORED, compression="zstd")


def table() -> None:
    """Print the differences of the scores with standard errors, and the mean weight."""
    print("| candidate | worst | mean | " + " | ".join(DOMAINS) + " |")
    rows = stored_rows()
    scores: dict[str, dict[str, np.ndarray]] = {}
    for (name, env), row in rows.items():
        scores.setdefault(name, {})[env] = score(env, np.array(row["returns"]))
    for name, by_env in scores.items():
        texts, differences = dict.fromkeys(DOMAINS, ""), []
        for env in by_env.keys() & scores["er"].keys() & scores.get(TWICE, {}).keys():
            best = max((scores["er"][env], scores[TWICE][env]), key=np.mean)
            differences.append(by_env[env].mean() - best.mean())
            error = np.hypot(*(one.std(ddof=1) / len(one) ** 0.5 for one in (by_env[env], best)))
            texts[env] = f"{differences[-1]:+.3f} ± {error:.3f}"
            if (weight := rows[name, env]["trust"]) is not None:
                texts[env] += f" ({weight:.2f})"
        worst, mean = (f"{f(differences):+.3f}" if differences else "" for f in (min, np.mean))
        print("| " + " | ".join([name, worst, mean, *texts.values()]) + " |")


def main() -> None:
    """Collect, or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("collect", "table"))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/planning"))
    options = parser.parse_args()
    if options.action == "table":
        table()
    else:
        collect(options.folder)


if __name__ == "__main__":
    main()
