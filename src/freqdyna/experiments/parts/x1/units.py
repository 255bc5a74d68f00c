"""What X1 trains: Dyna-Frequency, and climbs of V + g and V·g, on MountainCar.

Each under both interpretations of when updates begin.
"""

from typing import Any

from freqdyna.experiments.base import Unit
from freqdyna.experiments.readings import WHEN_UPDATES_BEGIN
from freqdyna.experiments.trainings import training

ALGORITHMS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-V+g": "dyna-value-plus-frequency",
    "Dyna-V·g": "dyna-value-times-frequency",
}


def settings(reading: str, name: str) -> dict[str, Any]:
    """One curve; that of Dyna-Frequency is a cell of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "reward_noise": 0.0}
    return cell | {"algorithm": ALGORITHMS[name]} | WHEN_UPDATES_BEGIN[reading]


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has those of one interpretation."""
    readings = list(WHEN_UPDATES_BEGIN)[: 1 if quick else None]
    return [
        training(quick, **settings(reading, name)) for reading in readings for name in ALGORITHMS
    ]
