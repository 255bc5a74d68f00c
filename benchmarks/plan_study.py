"""What a study of 10,000 runs would take on more machines than there are here: a simulation.

`python benchmarks/plan_study.py`: units are handed out in turn, as Ray does, to GPUs that each
compute several at a time; each unit takes the measured time with a spread, an overhead of its own,
and GPUs fail now and then, which costs their units the time since the last checkpoint and the node
a restart. The numbers at the top are measurements, or said to be assumptions; how long a unit takes
is read from trainings that are stored.
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
"""Units at a time on one GPU, as measured on an H200 with 16 host cores."""
TRAININGS = Path(__file__).parent.parent / "results/reproduce/trainings"
UNITS = {
    # Each had 15 others beside it on the same H200 (`--processes 16`).
    "Dyna-Frequency on MountainCar, d = 10": (
        "MountainCar-v0-dyna-frequency-planning-steps-10-reward-noise-0.0"
    ),
    "Dyna-Frequency on MazeGridWorld": "MazeGridWorld-dyna-frequency",
}
"""The stored training that says how long such a unit takes, compilation included."""
SPREAD = 0.1
"""Assumed: standard deviation of a unit's time by its mean."""
START, OVERHEAD = 30.0, 0.1
"""Seconds until a node's workers compute (assumed), and of Ray for a unit (measured: less)."""
CHECKPOINT, BETWEEN_FAILURES, RESTART = 60.0, 24 * 3600.0, 300.0
"""Seconds between checkpoints; assumed: between failures of a GPU's node, and until it is back."""


@dataclass(frozen=True)
class Study:
    """The outcome of one simulation."""

    hours: float
    gpu_hours: float
    busy: float
    """Share of the slots' time in which they computed something that counted."""


def unit_seconds(training: str) -> float:
    """What the provenance of a stored training says."""
    metadata = pyarrow.parquet.read_schema(TRAININGS / f"{training}.parquet").metadata
    return float(json.loads(metadata[b"freqdyna"])["provenance"]["seconds"])


def simulate(unit_seconds: float, gpus: int, seed: int = 0) -> Study:
    """Hand out all units in turn to the slot that is free first."""
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
    print("| 10,000 runs | a unit | GPUs | hours | GPU-hours | busy |")
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
