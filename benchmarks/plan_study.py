"""A simulation of how long a study of 10,000 runs would take on a cluster.

`python benchmarks/plan_study.py`: units are assigned in turn, as Ray does, to GPUs that each
compute several at a time. Each unit takes the measured time with some spread, plus an overhead.
GPUs fail occasionally: their units lose the time since the last checkpoint, and the node restarts.
The numbers at the top are measurements unless they are marked as assumptions; the time per unit is
read from stored trainings.
"""

import heapq
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet

RUNS = 10_000
"""Units of 30 seeds × 50,000 steps."""
PROCESSES = 16
"""Concurrent units on one GPU, as measured on an H200 with 16 host cores."""
TRAININGS = Path(__file__).parent.parent / "results/reproduce/trainings"
UNITS = {
    # Each ran together with 15 others on the same H200 (`--processes 16`).
    "Dyna-Frequency on MountainCar, d = 10": (
        "MountainCar-v0-dyna-frequency-planning-steps-10-reward-noise-0.0"
    ),
    "Dyna-Frequency on MazeGridWorld": "MazeGridWorld-dyna-frequency",
}
"""The stored training from which the time per unit is read, including compilation."""
SPREAD = 0.1
"""Assumed: standard deviation of a unit's time divided by its mean."""
START, OVERHEAD = 30.0, 0.1
"""Seconds until a node's workers start (assumed), and Ray's overhead per unit (measured: less)."""
CHECKPOINT, BETWEEN_FAILURES, RESTART = 60.0, 24 * 3600.0, 300.0
"""Seconds between checkpoints, and assumed seconds between failures of a node and to restart it."""


@dataclass(frozen=True)
class Study:
    """The outcome of one simulation."""

    hours: float
    gpu_hours: float
    busy: float
    """Fraction of the time that was spent on work that was not lost."""


def unit_seconds(training: str) -> float:
    """The time of a stored training, from its provenance."""
    metadata = pyarrow.parquet.read_schema(TRAININGS / f"{training}.parquet").metadata
    return float(json.loads(metadata[b"freqdyna"])["provenance"]["seconds"])


def simulate(unit_seconds: float, gpus: int, seed: int = 0) -> Study:
    """Assign all units in turn to the slot that is free first."""
    rng = np.random.default_rng(seed)
    slots = [(START, gpu) for gpu in range(gpus) for _ in range(PROCESSES)]
    heapq.heapify(slots)
    horizon = 10 * RUNS * unit_seconds / len(slots) + 10 * unit_seconds
    failures = [
        np.cumsum(rng.exponential(BETWEEN_FAILURES, int(horizon / BETWEEN_FAILURES * 5) + 20))
        for _ in range(gpus)
    ]
    useful, end = 0.0, 0.0
    for seconds in rng.normal(unit_seconds, SPREAD * unit_seconds, RUNS):
        now, gpu = heapq.heappop(slots)
        work = max(float(seconds), 1.0)
        useful += work
        done = now + OVERHEAD + work
        for failure in failures[gpu][np.searchsorted(failures[gpu], now) :]:
            if failure >= done:
                break
            done += RESTART + rng.uniform(0, CHECKPOINT)
        end = max(end, done)
        heapq.heappush(slots, (done, gpu))
    busy = useful / (end * gpus * PROCESSES)
    return Study(end / 3600, end * gpus / 3600, busy)


if __name__ == "__main__":
    print("| 10,000 runs | time per unit | GPUs | hours | GPU-hours | utilisation |")
    print("|---|---|---|---|---|---|")
    for name, training in UNITS.items():
        seconds = unit_seconds(training)
        for gpus in (1, 8, 64):
            studies = [simulate(seconds, gpus, seed) for seed in range(20)]
            hours, gpu_hours, busy = (
                np.mean([getattr(study, field) for study in studies])
                for field in ("hours", "gpu_hours", "busy")
            )
            print(f"| {name} | {seconds} s | {gpus} | {hours:.2f} | {gpu_hours:.1f} | {busy:.0%} |")
