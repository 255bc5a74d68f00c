"""What X1 trains: Dyna-Frequency, and what did not work well in the paper, on MountainCar.

Each under both interpretations of when updates begin.
"""

from dataclasses import replace
from typing import Any

from reproduction.base import Unit
from reproduction.readings import WHEN_UPDATES_BEGIN
from reproduction.trainings import training

ALGORITHMS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-V+g": "dyna-value-plus-frequency",
    "Dyna-V·g": "dyna-value-times-frequency",
}
VISITED = {"ER": "er", "Dyna-Replay": "dyna-replay"}
"""The paper's introduction: planning from visited states does not outperform ER."""


def settings(reading: str, name: str) -> dict[str, Any]:
    """One curve; those of Dyna-Frequency and ER are cells of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "reward_noise": 0.0}
    algorithm = (ALGORITHMS | VISITED)[name]
    return cell | {"algorithm": algorithm} | WHEN_UPDATES_BEGIN[reading]


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has three, of one interpretation."""
    readings = list(WHEN_UPDATES_BEGIN)[: 1 if quick else None]
    return [
        replace(training(quick, **settings(reading, name)), optional=name in VISITED)
        for reading in readings
        for name in (*ALGORITHMS, *(() if quick else VISITED))
    ]
