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
    "puddle": (120, 165, 215),
}
PIXELS = 400
"""Pixels along each side of a picture of the unit square."""


class Painter(NamedTuple):
    """Draws states of an environment."""

    draw: Callable[[np.ndarray], np.ndarray]
    """From a state of shape (n,) to an image of shape (height, width, 3), values from 0 to 255."""
    steps_a_second: float
    """Environment steps per second of an animation."""


class Landmark(NamedTuple):
    """A region of the first two coordinates: a rectangle, or a part of one."""

    kind: str
    """A key of COLORS."""
    low: tuple[float, float]
    high: tuple[float, float]
    """Opposite corners, in the coordinates of the state."""
    profile: tuple[tuple[float, float, float], ...] = ()
    """Unless it is the whole rectangle, its (x, bottom, top) at several x from left to right."""

    def outline(self) -> list[tuple[float, float]]:
        """The corners, in order; those of the rectangle if there is no profile."""
        (left, bottom), (right, top) = self.low, self.high
        spans = self.profile or ((left, bottom, top), (right, bottom, top))
        above = [(x, high) for x, _, high in spans]
        return above + [(x, low) for x, low, _ in reversed(spans)]


def draw_agent(picture: np.ndarray, place: np.ndarray) -> None:
    """Draw the agent into a picture of the unit square, with y upwards.

    Args:
        picture: The picture, shape (PIXELS, PIXELS, 3), which is changed.
        place: The agent's (x, y).

    """
    x, y = place
    down, right = np.mgrid[:PIXELS, :PIXELS]
    picture[np.hypot(right - x * PIXELS, down - (1 - y) * PIXELS) < PIXELS / 50] = AGENT
