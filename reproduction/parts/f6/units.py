"""What F6 trains: g with only the gradient term, with only the Hessian term, and with both.

On MountainCar under both interpretations of when updates begin, on GridWorld after the warm-up.
"""

from dataclasses import replace
from typing import Any

from reproduction.base import Stored, Unit
from reproduction.readings import WHEN_UPDATES_BEGIN
from reproduction.stored_trainings import pick
from reproduction.trainings import training

CAR, GRID = "MountainCar-v0", "GridWorld"
ALGORITHMS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-GradNorm": "dyna-gradnorm",
    "Dyna-HessNorm": "dyna-hessnorm",
}
FIRST, WAITING = WHEN_UPDATES_BEGIN
PANELS = ((CAR, FIRST), (CAR, WAITING), (GRID, WAITING))
"""Environments, and when updates begin in them."""


def settings(env: str, reading: str, name: str) -> dict[str, Any]:
    """One curve of the figure; those of Dyna-Frequency on MountainCar are cells of F3."""
    # On GridWorld the preset of the trainings waits.
    own = {"reward_noise": 0.0, **WHEN_UPDATES_BEGIN[reading]} if env == CAR else {}
    return {"env": env, "algorithm": ALGORITHMS[name], "planning_steps": 10, **own}


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has those of GridWorld."""
    return [
        replace(training(quick, **settings(*panel, name)), optional=panel == (CAR, WAITING))
        for panel in (PANELS[-1:] if quick else PANELS)
        for name in ALGORITHMS
    ]


def by_panel(units: dict[str, Stored]) -> dict[tuple[str, str], dict[str, Stored]]:
    """The stored trainings by algorithm, for each of `PANELS` all of whose trainings are stored."""
    found = {
        panel: {
            name: stored
            for name in ALGORITHMS
            if (stored := pick(units, **settings(*panel, name))) is not None
        }
        for panel in PANELS
    }
    return {panel: of for panel, of in found.items() if of.keys() == ALGORITHMS.keys()}
