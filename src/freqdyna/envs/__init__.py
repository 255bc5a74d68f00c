"""The built-in environments, by name."""

import difflib
from typing import Any

from freqdyna.config import create
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.plugins import require_allowed
from freqdyna.envs.acrobot import Acrobot
from freqdyna.envs.base import Environment
from freqdyna.envs.cart_pole import CartPole
from freqdyna.envs.dyna_maze import DynaMaze
from freqdyna.envs.grid_world import GridWorld
from freqdyna.envs.maze_grid_world import MazeGridWorld
from freqdyna.envs.mountain_car import MountainCar
from freqdyna.envs.pendulum import Pendulum
from freqdyna.envs.puddle_world import PuddleWorld
from freqdyna.envs.space import Action, Factory, Space
from freqdyna.envs.tube_grid_world import TUBE_GRID_WORLDS, TubeGridWorld

_OURS: tuple[type[Environment], ...] = (GridWorld, MazeGridWorld, DynaMaze, PuddleWorld)
_OF_GYMNASIUM: tuple[type[Environment], ...] = (MountainCar, CartPole, Acrobot, Pendulum)
ENVIRONMENTS: dict[str, type[Environment]] = {
    kind.name: kind for kind in (*_OF_GYMNASIUM, *_OURS, *TUBE_GRID_WORLDS)
}

__all__ = [
    "ENVIRONMENTS",
    "Acrobot",
    "Action",
    "CartPole",
    "DynaMaze",
    "Environment",
    "GridWorld",
    "MazeGridWorld",
    "MountainCar",
    "Pendulum",
    "PuddleWorld",
    "Space",
    "TubeGridWorld",
    "gymnasium_factory",
    "is_known",
    "make",
]


def is_known(name: str) -> bool:
    """Whether `name` is a built-in environment or registered with Gymnasium."""
    try:
        return name in ENVIRONMENTS or bool(gymnasium_factory(name))
    except FreqdynaError:
        return False


def gymnasium_factory(name: str, **options: Any) -> Factory:
    """A factory for an environment that is registered with Gymnasium.

    Args:
        name: An id such as "Hopper-v5"; `module:id` if the module, which registers it, is imported.
        **options: Passed to `gymnasium.make`.

    Returns:
        A function without arguments that creates a new environment at each call.

    """
    import gymnasium  # here, since importing it takes longer than the rest of this package

    from freqdyna.envs import gymnasium_env as gymnasium_env  # registers our own ids
    from freqdyna.envs.gym.space import factory_of

    require_allowed("env", name)
    registered = name.rpartition(":")[2]
    try:
        gymnasium.spec(registered)
    except gymnasium.error.Error:
        near = difflib.get_close_matches(registered, gymnasium.registry, n=5)
        raise unknown_name("environment", name, dict.fromkeys([*near, *ENVIRONMENTS])) from None
    return factory_of(registered, **options)


def make(name: str, **settings: Any) -> Environment:
    """Create a built-in environment.

    Args:
        name: One of `ENVIRONMENTS`, such as "MountainCar-v0".
        **settings: Fields of its class, such as `reward_noise=0.1`.

    """
    if name not in ENVIRONMENTS:
        raise unknown_name("environment", name, ENVIRONMENTS)
    made: Environment = create("env", ENVIRONMENTS[name], settings)
    return made
