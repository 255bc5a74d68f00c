"""What there is to see in an environment: its landmarks, and the colours of pictures."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Color = tuple[int, int, int]

FLOOR: Color = (245, 245, 245)
AGENT: Color = (200, 30, 30)
COLORS: dict[str, Color] = {
    "wall": (60, 60, 60),
    "hole": (173, 216, 240),
    "start": (170, 220, 170),
    "goal": (255, 205, 90),
}


class Painter(NamedTuple):
    """Draws states of an environment."""

    draw: Callable[[np.ndarray], np.ndarray]
    """The picture of a state of shape (n,): colours from 0 to 255, shape (height, width, 3)."""
    steps_a_second: float
    """How many steps of the environment pass in a second of a film."""


class Landmark(NamedTuple):
    """A rectangle of a two-dimensional state space."""

    kind: str
    """One of COLORS."""
    low: tuple[float, float]
    high: tuple[float, float]
    """Opposite corners, in the coordinates of the state."""
