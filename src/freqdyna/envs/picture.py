"""How environments are drawn: landmarks, colours, and painters of states."""

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
    """From a state of shape (n,) to an image of shape (height, width, 3), values from 0 to 255."""
    steps_a_second: float
    """Environment steps per second of an animation."""


class Landmark(NamedTuple):
    """A rectangle in a two-dimensional state space."""

    kind: str
    """A key of COLORS."""
    low: tuple[float, float]
    high: tuple[float, float]
    """Opposite corners, in the coordinates of the state."""
