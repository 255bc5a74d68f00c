"""How environments are drawn: landmarks, colours, painters, and rendering with Gymnasium."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from freqdyna.core.errors import FreqdynaError, installing, one_line

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
MODE = "rgb_array"
"""Gymnasium's render mode for images as arrays."""
STEPS_A_SECOND = 30.0
"""For environments that do not define a frame rate."""


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


def square_painter(landmarks: Sequence[Landmark], brightness: np.ndarray | float = 1) -> Painter:
    """A painter of the unit square with landmarks, and the agent as a red disc; y is up."""
    from PIL import Image, ImageDraw

    floor = Image.new("RGB", (PIXELS, PIXELS), FLOOR)
    for landmark in landmarks:
        corners = [(PIXELS * x, PIXELS * (1 - y)) for x, y in landmark.outline()]
        ImageDraw.Draw(floor).polygon(corners, COLORS[landmark.kind])
    floor = Image.fromarray((np.asarray(floor) * brightness).astype(np.uint8))

    def draw(state: np.ndarray) -> np.ndarray:
        picture, radius = floor.copy(), PIXELS / 50
        x, y = PIXELS * state[0], PIXELS * (1 - state[1])
        box = (x - radius, y - radius, x + radius, y + radius)
        ImageDraw.Draw(picture).ellipse(box, AGENT)
        return np.asarray(picture)

    return Painter(draw, steps_a_second=20)


def gymnasium_painter(
    name: str, state_of: Callable[[np.ndarray], np.ndarray] = np.asarray
) -> Painter:
    """A painter that draws states as Gymnasium does.

    `state_of` converts a state of shape (n,) to the `state` attribute of that environment.
    """
    env: Any = gymnasium.make(name, render_mode=MODE).unwrapped
    env.reset(seed=0)  # sets what some environments draw besides the state

    def draw(state: np.ndarray) -> np.ndarray:
        env.state = state_of(state)
        return rendered(env, name)

    return Painter(draw, steps_a_second(env))


def steps_a_second(env: Any) -> float:
    """The frame rate of a Gymnasium environment."""
    return float(env.metadata.get("render_fps") or STEPS_A_SECOND)


def rendered(env: Any, name: str) -> np.ndarray:
    """An image of a Gymnasium environment, shape (height, width, 3), type uint8."""
    try:
        picture = np.asarray(env.render())
    except Exception as error:  # a missing package, no graphics, or anything in the user's code
        reason = one_line(error)
        if "pygame" in reason:
            reason = f"it needs: {installing('watch')}"
        elif "mujoco" in str(gymnasium.registry.get(name.rpartition(":")[2])):
            reason += "; without a display, MuJoCo needs MUJOCO_GL=egl"
        raise cannot_be_drawn(name, reason) from error
    if picture.shape[2:] != (3,) or picture.dtype != np.uint8:
        what = f"shape {picture.shape} and type {picture.dtype}"
        raise cannot_be_drawn(name, f"render returns {what}, not (height, width, 3) and uint8")
    return picture


def cannot_be_drawn(name: str, reason: str) -> FreqdynaError:
    """The error for an environment that cannot be rendered."""
    return FreqdynaError(f"env is {name!r}, which cannot be drawn here: {reason}")
