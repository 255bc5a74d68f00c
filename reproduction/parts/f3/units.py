"""What F3 trains: five algorithms on MountainCar, two numbers of updates, two noise levels.

Each under both interpretations of when updates begin.
"""

from typing import Any

from reproduction.base import Unit
from reproduction.readings import WHEN_UPDATES_BEGIN
from reproduction.trainings import training

ALGORITHMS: dict[str, dict[str, str]] = {
    "ER": {"algorithm": "er"},
    "PrioritizedER": {"algorithm": "prioritized-er"},
    "Dyna-Value": {"algorithm": "dyna-value"},
    "Dyna-Frequency": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, learned model": {"algorithm": "dyna-frequency", "model": "learned"},
}
UPDATES = (10, 30)
NOISES = (0.0, 0.1)


def settings(reading: str, name: str, updates: int, noise: float) -> dict[str, Any]:
    """One cell of the figure."""
    cell = {"env": "MountainCar-v0", "planning_steps": updates, "reward_noise": noise}
    return cell | ALGORITHMS[name] | WHEN_UPDATES_BEGIN[reading]


def units(quick: bool) -> list[Unit]:
    """All cells, the longest first; a quick run has three."""
    if quick:
        reading, few = next(iter(WHEN_UPDATES_BEGIN)), ("ER", "Dyna-Value", "Dyna-Frequency")
        return [training(True, **settings(reading, name, UPDATES[0], 0.0)) for name in few]
    return [
        training(False, **settings(reading, name, updates, noise))
        for reading in WHEN_UPDATES_BEGIN
        for updates in reversed(UPDATES)
        for name in reversed(ALGORITHMS)
        for noise in NOISES
    ]
