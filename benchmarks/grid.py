"""The paper's experiments as one GPU job: every cell of a grid, several processes on one device.

One run leaves a GPU idle most of the time: its kernels are short and wait for the host. So the
cells run beside each other, one process each, under NVIDIA's MPS where it is installed. Cells
already in the folder are left out, so that an interrupted grid goes on.

    python benchmarks/grid.py mountain-car --out runs/grid --processes 16
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

ALGORITHMS: dict[str, dict[str, Any]] = {
    "dyna-frequency-learned": {"algorithm": "dyna-frequency", "model": "learned"},
    "dyna-frequency": {"algorithm": "dyna-frequency"},
    "dyna-value": {"algorithm": "dyna-value"},
    "prioritized-er": {"algorithm": "prioritized-er"},
    "er": {"algorithm": "er"},
}
"""The longest first, so that no process is left with it at the end."""


def mountain_car() -> dict[str, dict[str, Any]]:
    """The grid of the paper's figure 3: 20 cells."""
    return {
        f"{name}-d{updates}-noise{noise}": settings
        | {"planning_steps": updates, "reward_noise": noise}
        for updates in (30, 10)
        for name, settings in ALGORITHMS.items()
        for noise in (0.0, 0.1)
    }


def maze(block: int, seeds: int) -> dict[str, dict[str, Any]]:
    """The two algorithms of figure 4; seeds of different blocks do not wait for each other."""
    return {
        f"{name}-seeds{first}": {"algorithm": name, "env": "MazeGridWorld", "first_seed": first}
        | {"seeds": min(block, seeds - first)}
        for first in range(0, seeds, block)
        for name in ("dyna-frequency", "dyna-value")
    }


def train(folder: Path, settings: dict[str, Any]) -> tuple[str, float]:
    """One cell, in a process of its own."""
    import freqdyna

    began = time.monotonic()
    result = freqdyna.train(**settings, progress=False)
    result.save(folder)
    returns = result.mean_return(5000) if result.config.steps > 5000 else result.returns
    return f"{folder.name}: mean return {returns.mean():.0f}", time.monotonic() - began


def main() -> None:
    """Run what is missing of a grid, and say how long the whole took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grid", choices=("mountain-car", "maze"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--block", type=int, default=30, help="maze: seeds of one process")
    given = parser.parse_args()
    cells = mountain_car() if given.grid == "mountain-car" else maze(given.block, given.seeds)
    common = {"steps": given.steps, "seeds": given.seeds}
    given.out.mkdir(parents=True, exist_ok=True)
    missing = {n: common | s for n, s in cells.items() if not (given.out / n).exists()}
    print(f"{len(missing)} of {len(cells)} cells to run, {given.processes} at a time", flush=True)

    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the processes share the memory
    served = shutil.which("nvidia-cuda-mps-control")
    if served:
        subprocess.run([served, "-d"], check=False)
    began = time.monotonic()
    seconds = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.processes, mp_context=context, max_tasks_per_child=1) as pool:
        jobs = {pool.submit(train, given.out / n, s): n for n, s in missing.items()}
        for job in as_completed(jobs):
            text, seconds[jobs[job]] = job.result()
            now = time.monotonic() - began
            print(f"[{now:.0f} s] {text}, {seconds[jobs[job]]:.0f} s", flush=True)
    whole = time.monotonic() - began
    print(f"{given.grid}: {len(missing)} cells in {whole:.0f} s", flush=True)
    facts = {"mps": bool(served), "processes": given.processes, "seconds": whole, "cells": seconds}
    facts |= {"steps": given.steps, "seeds": given.seeds}
    (given.out / "grid.json").write_text(json.dumps(facts, indent=2) + "\n")
    if served:
        subprocess.run([served], input=b"quit\n", check=False)


if __name__ == "__main__":
    main()
