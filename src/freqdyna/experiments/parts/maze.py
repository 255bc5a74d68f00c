"""Common parts of F4, F5 and F8: three algorithms on MazeGridWorld, states near its holes."""

import numpy as np

from freqdyna.envs import MazeGridWorld
from freqdyna.experiments.base import Stored
from freqdyna.experiments.trainings import pick, states, unlearned

ALGORITHMS: dict[str, dict[str, str]] = {
    "Dyna-Value": {"algorithm": "dyna-value"},
    "Dyna-Frequency": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, learned model": {"algorithm": "dyna-frequency", "model": "learned"},
}
RADIUS = 0.1
"""A state is near a hole if it is within this distance of its centre, as in the paper."""
PAPER = {"Dyna-Frequency": 25.3, "Dyna-Value": 11.7}
"""The paper's shares of queue states near a hole, in percent (figure 5)."""


def settings(name: str) -> dict[str, str]:
    """The training of one of `ALGORITHMS`."""
    return {"env": "MazeGridWorld"} | ALGORITHMS[name]


def by_name(units: dict[str, Stored]) -> dict[str, Stored]:
    """The stored training of each algorithm that is among `units`."""
    found = {name: pick(units, **settings(name)) for name in ALGORITHMS}
    return {name: stored for name, stored in found.items() if stored is not None}


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


def near_holes_if_learned(stored: Stored) -> np.ndarray:
    """The shares of the queues of the seeds that learned, in percent; of all seeds if none did.

    The queue of a seed that never learned has far fewer states near a hole, so that a sample of all
    seeds is bimodal, and the range of its middle part means nothing.
    """
    learned = ~unlearned(stored)
    shares = near_holes(states(stored, "queue"))
    return shares[learned] if learned.any() else shares
