"""Pictures by Gymnasium: of environments that are ours and also Gymnasium's, and of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np

from freqdyna.core.errors import FreqdynaError, installing
from freqdyna.envs.picture import Painter

MODE = "rgb_array"
"""Gymnasium's name for pictures as arrays."""
STEPS_A_SECOND = 30.0
"""Where an environment does not say how fast it is shown."""


def gymnasium_painter(
    name: str, state_of: Callable[[np.ndarray], np.ndarray] = np.asarray
) -> Painter:
    """Draws states as Gymnasium's environment of that name does.

    `state_of` makes of a state, shape (n,), what that environment keeps as its own.
    """
    try:
        import gymnasium
    except ImportError:  # a bare machine
        raise cannot_be_drawn(name, "it needs Gymnasium") from None
    env: Any = gymnasium.make(name, render_mode=MODE).unwrapped

    def draw(state: np.ndarray) -> np.ndarray:
        env.state = state_of(state)
        return rendered(env, name)

    return Painter(draw, steps_a_second(env))


def steps_a_second(env: Any) -> float:
    """How fast a Gymnasium environment is to be shown."""
    given = env.metadata.get("render_fps")
    return float(given) if given else STEPS_A_SECOND


def rendered(env: Any, name: str) -> np.ndarray:
    """The picture of a Gymnasium environment as it is now, shape (height, width, 3)."""
    try:
        picture = np.asarray(env.render())
    except Exception as error:  # a missing package, no graphics here, or the user's own code
        if "pygame" in str(error):
            raise cannot_be_drawn(name, f"it needs: {installing('watch')}") from error
        said = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
        if needs_mujoco(name):
            reason += "; without a screen MuJoCo draws where MUJOCO_GL is set to egl or osmesa"
        raise cannot_be_drawn(name, reason) from error
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        what = f"an array of shape {picture.shape} and type {picture.dtype}"
        raise cannot_be_drawn(name, f"its render returns {what}, not (height, width, 3) and uint8")
    return picture


def needs_mujoco(name: str) -> bool:
    """Whether Gymnasium's environment of that name, if there is one, is MuJoCo's."""
    import gymnasium

    spec = gymnasium.registry.get(name.rpartition(":")[2])
    return spec is not None and "mujoco" in str(spec.entry_point)


def cannot_be_drawn(name: str, reason: str) -> FreqdynaError:
    """Refuse an environment."""
    return FreqdynaError(f"env is {name!r}, which cannot be drawn here: {reason}")
