"""Rendering with Gymnasium: its own environments, and built-in ones that it has as well."""

from collections.abc import Callable
from typing import Any

import numpy as np

from freqdyna.core.errors import FreqdynaError, installing, one_line
from freqdyna.envs.picture import Painter

MODE = "rgb_array"
"""Gymnasium's render mode for images as arrays."""
STEPS_A_SECOND = 30.0
"""For environments that do not define a frame rate."""


def gymnasium_painter(
    name: str, state_of: Callable[[np.ndarray], np.ndarray] = np.asarray
) -> Painter:
    """A painter that draws states as Gymnasium does.

    Args:
        name: The id of the Gymnasium environment.
        state_of: From a state of shape (n,) to the `state` attribute of that environment.

    """
    import gymnasium

    env: Any = gymnasium.make(name, render_mode=MODE).unwrapped
    env.reset(seed=0)  # sets what some environments draw besides the state

    def draw(state: np.ndarray) -> np.ndarray:
        env.state = state_of(state)
        return rendered(env, name)

    return Painter(draw, steps_a_second(env))


def steps_a_second(env: Any) -> float:
    """The frame rate of a Gymnasium environment."""
    given = env.metadata.get("render_fps")
    return float(given) if given else STEPS_A_SECOND


def rendered(env: Any, name: str) -> np.ndarray:
    """Render a Gymnasium environment.

    Args:
        env: The environment.
        name: Its name, for error messages.

    Returns:
        An image of shape (height, width, 3), type uint8.

    """
    try:
        picture = np.asarray(env.render())
    except Exception as error:  # a missing package, no graphics, or anything in the user's code
        if "pygame" in str(error):
            raise cannot_be_drawn(name, f"it needs: {installing('watch')}") from error
        reason = one_line(error)
        if needs_mujoco(name):
            reason += "; without a display, MuJoCo needs MUJOCO_GL=egl or MUJOCO_GL=osmesa"
        raise cannot_be_drawn(name, reason) from error
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        what = f"an array of shape {picture.shape} and type {picture.dtype}"
        raise cannot_be_drawn(name, f"its render returns {what}, not (height, width, 3) and uint8")
    return picture


def needs_mujoco(name: str) -> bool:
    """Whether `name` is a MuJoCo environment of Gymnasium."""
    import gymnasium

    spec = gymnasium.registry.get(name.rpartition(":")[2])
    return spec is not None and "mujoco" in str(spec.entry_point)


def cannot_be_drawn(name: str, reason: str) -> FreqdynaError:
    """The error for an environment that cannot be rendered."""
    return FreqdynaError(f"env is {name!r}, which cannot be drawn here: {reason}")
