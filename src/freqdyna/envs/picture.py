"""What there is to see in an environment: its landmarks, and the colours of pictures."""

from typing import NamedTuple

Color = tuple[int, int, int]

FLOOR: Color = (245, 245, 245)
AGENT: Color = (200, 30, 30)
COLORS: dict[str, Color] = {
    "wall": (60, 60, 60),
    "hole": (173, 216, 240),
    "start": (170, 220, 170),
    "goal": (255, 205, 90),
}


class Landmark(NamedTuple):
    """A rectangle of a two-dimensional state space."""

    kind: str
    """One of COLORS."""
    low: tuple[float, float]
    high: tuple[float, float]
    """Opposite corners, in the coordinates of the state."""
