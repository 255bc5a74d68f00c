"""What D analyses: the values of B, one of GridWorld, and one learned from noisy rewards."""

from dataclasses import replace
from typing import Any

from reproduction.base import Unit
from reproduction.parts.bandwidth import units as bandwidth

CAR, MAZE, GRID = "MountainCar-v0", "MazeGridWorld", "GridWorld"
NOISE = 0.1
NOISY = f"{CAR}-reward-noise-{NOISE}"
TRAININGS: dict[str, dict[str, Any]] = {
    # As B does in the maze: planning from uniform states solves it without climbs.
    GRID: {
        **{"env": GRID, "algorithm": "dyna-uniform", "seeds": 10, "steps": 20_000},
        "planning_steps": 10,
    },
    NOISY: {"env": CAR, "reward_noise": NOISE, **bandwidth.TRAININGS[CAR]},
}


def units(quick: bool) -> list[Unit]:
    """The trainings of B, which are stored with it, and two more; a quick run has those of B."""
    shared = [replace(unit, folder="B") for unit in bandwidth.units(quick)]
    if quick:
        return shared
    own = [bandwidth.learned(name, quick, **given) for name, given in TRAININGS.items()]
    return [*shared, *(replace(unit, optional=True) for unit in own)]
