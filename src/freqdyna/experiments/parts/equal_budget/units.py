"""What R trains: a grid of learning rates and target periods for four algorithms."""

from typing import Any

from freqdyna.experiments.base import Stored, Unit
from freqdyna.experiments.trainings import pick, training

ALGORITHMS = {
    "ER": "er",
    "PrioritizedER": "prioritized-er",
    "Dyna-Value": "dyna-value",
    "Dyna-Frequency": "dyna-frequency",
}
LEARNING_RATES = (0.0003, 0.001, 0.003)
TARGET_PERIODS = (300, 1000, 3000)
PAPER = (0.001, 1000)
Grid = dict[tuple[str, float, int], Stored]


def settings(name: str, rate: float, period: int) -> dict[str, Any]:
    """One training; with the paper's setting it is a cell of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "reward_noise": 0.0}
    cell |= {"algorithm": ALGORITHMS[name]}
    tuned = {"learning_rate": rate, "target_period": period}
    return cell if (rate, period) == PAPER else cell | tuned


def units(quick: bool) -> list[Unit]:
    """The whole grid, the longest first; a quick run has only the paper's setting."""
    points = [(rate, period) for rate in LEARNING_RATES for period in TARGET_PERIODS]
    return [
        training(quick, **settings(name, *point))
        for name in reversed(ALGORITHMS)
        for point in ([PAPER] if quick else points)
    ]


def by_point(units: dict[str, Stored]) -> Grid:
    """The stored training of each algorithm and point of the grid."""
    keys = [
        (name, rate, period)
        for name in ALGORITHMS
        for rate in LEARNING_RATES
        for period in TARGET_PERIODS
    ]
    found = {key: pick(units, **settings(*key)) for key in keys}
    return {key: stored for key, stored in found.items() if stored is not None}
