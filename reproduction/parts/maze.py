"""Common parts of F4, F5 and F8: algorithms on MazeGridWorld under several interpretations."""

from dataclasses import replace
from typing import Any

import numpy as np

from freqdyna.envs import MazeGridWorld
from reproduction.base import Stored, Unit
from reproduction.readings import IN_THE_MAZE, by_reading
from reproduction.stored_trainings import area, states, unlearned
from reproduction.trainings import training

ALGORITHMS: dict[str, dict[str, str]] = {
    "Dyna-Value": {"algorithm": "dyna-value"},
    "Dyna-Frequency": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, learned model": {"algorithm": "dyna-frequency", "model": "learned"},
}
BOTH = ("Dyna-Frequency", "Dyna-Value")
"""The algorithms that are trained under every interpretation."""
DEFAULT = next(iter(IN_THE_MAZE))
MAIN = ("walls outside, restart, Σ", "walls inside, clip, I")
"""The interpretations that figures show: the defaults of version 0.1, and the choices of the
published code."""
LONG = 100_000
"""The steps of further trainings under `MAIN`: the names of the paper's files suggest that its
trainings may be longer than 50,000 steps."""
DOTS = "orangered"
"""The colour of states, which is visible on the floor and on walls."""
RADIUS = 0.1
"""A state is near a hole if it is within this distance of its centre, as in the paper."""
PAPER = {"Dyna-Frequency": 25.3, "Dyna-Value": 11.7}
"""The paper's shares of queue states near a hole, in percent (figure 5)."""


def settings(reading: str, name: str) -> dict[str, Any]:
    """The training of one of `ALGORITHMS` under one of `IN_THE_MAZE`."""
    return {"env": "MazeGridWorld"} | ALGORITHMS[name] | IN_THE_MAZE[reading]


def units(quick: bool) -> list[Unit]:
    """The trainings of `BOTH` under all interpretations, and for `LONG` steps under `MAIN`.

    The analyses need those of `DEFAULT`, which are also the ones of a quick run.
    """
    needed = [training(quick, **settings(DEFAULT, name)) for name in BOTH]
    if quick:
        return needed
    long = [training(quick, steps=LONG, **settings(r, name)) for r in MAIN for name in BOTH]
    others = [
        training(quick, **settings(r, name)) for r in IN_THE_MAZE if r != DEFAULT for name in BOTH
    ]
    return [*(replace(unit, optional=True) for unit in (*long, *others)), *needed]


def trainings(units: dict[str, Stored], longer: bool = False) -> dict[str, dict[str, Stored]]:
    """The stored trainings by interpretation and algorithm, where `BOTH` are stored.

    Args:
        units: The stored units by name.
        longer: Whether to return those of `LONG` steps.

    """
    found = by_reading(units, IN_THE_MAZE, ALGORITHMS, settings, longer)
    return {reading: of for reading, of in found.items() if of.keys() >= set(BOTH)}


def near_holes(drawn: np.ndarray) -> np.ndarray:
    """The share of states near a hole, in percent.

    Args:
        drawn: States, shape (..., states, 2).

    Returns:
        Shape (...).

    """
    centers = np.array([wall.hole_center for wall in MazeGridWorld.walls])
    distances = np.linalg.norm(drawn[..., None, :] - centers, axis=-1)
    return 100 * (distances <= RADIUS).any(-1).mean(-1)


def near_holes_if_learned(stored: Stored, step: int | None = None) -> np.ndarray:
    """The shares of the queues of the seeds that learned, in percent; of all seeds if none did.

    The queue of a seed that never learned has far fewer states near a hole, so that a sample of all
    seeds is bimodal, and the range of its middle part means nothing.

    Args:
        stored: The training.
        step: The step of the queues; by default the last.

    Returns:
        Shape (seeds that learned by the end,).

    """
    return of_learned(stored, near_holes(states(stored, "queue", step)))


def of_learned(stored: Stored, values: np.ndarray) -> np.ndarray:
    """The numbers of the seeds that learned; all of them if no seed did.

    Args:
        stored: The training.
        values: One number per seed, shape (seeds,).

    """
    learned = ~unlearned(stored)
    return values[learned] if learned.any() else values


def median_seed(stored: Stored) -> int:
    """The row of the seed with the median area; of two in the middle, the better one."""
    areas = area(stored)
    return int(np.argsort(areas)[len(areas) // 2])
