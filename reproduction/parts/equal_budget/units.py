"""What R trains: a grid of learning rates and target periods for four algorithms.

Each under both interpretations of when updates begin.
"""

from itertools import product
from typing import Any

from reproduction.base import Stored, Unit
from reproduction.readings import WHEN_UPDATES_BEGIN, by_reading
from reproduction.trainings import training

ALGORITHMS = {
    "ER": "er",
    "PrioritizedER": "prioritized-er",
    "Dyna-Value": "dyna-value",
    "Dyna-Frequency": "dyna-frequency",
}
LEARNING_RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01)
TARGET_PERIODS = (100, 300, 1000, 3000, 10_000)
PAPER = (0.001, 1000)
Grid = dict[tuple[str, float, int], Stored]
"""By algorithm, learning rate and target period."""


def settings(reading: str, name: str, rate: float, period: int) -> dict[str, Any]:
    """One training; with the paper's setting it is a cell of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "reward_noise": 0.0}
    cell |= {"algorithm": ALGORITHMS[name]} | WHEN_UPDATES_BEGIN[reading]
    tuned = {"learning_rate": rate, "target_period": period}
    return cell if (rate, period) == PAPER else cell | tuned


def units(quick: bool) -> list[Unit]:
    """The whole grid, the longest first; a quick run has only the paper's setting."""
    points = [(rate, period) for rate in LEARNING_RATES for period in TARGET_PERIODS]
    return [
        training(quick, **settings(reading, name, *point))
        for reading in list(WHEN_UPDATES_BEGIN)[: 1 if quick else None]
        for name in reversed(ALGORITHMS)
        for point in ([PAPER] if quick else points)
    ]


def grids(units: dict[str, Stored]) -> dict[str, Grid]:
    """The stored training of each algorithm and point of the grid, by interpretation."""
    keys = list(product(ALGORITHMS, LEARNING_RATES, TARGET_PERIODS))
    return by_reading(units, WHEN_UPDATES_BEGIN, keys, lambda reading, key: settings(reading, *key))
