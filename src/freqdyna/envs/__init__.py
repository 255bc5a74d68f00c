"""The built-in environments, by name."""

import dataclasses
from typing import Any

import gymnasium

from freqdyna.envs.acrobot import Acrobot
from freqdyna.envs.base import Environment
from freqdyna.envs.cart_pole import CartPole
from freqdyna.envs.dyna_maze import DynaMaze
from freqdyna.envs.grid_world import GridWorld
from freqdyna.envs.host_space import Factory, factory_of
from freqdyna.envs.maze_grid_world import MazeGridWorld
from freqdyna.envs.mountain_car import MountainCar
from freqdyna.errors import FreqdynaError, unknown_name

ENVIRONMENTS: dict[str, type[Environment]] = {
    kind.name: kind for kind in (MountainCar, GridWorld, MazeGridWorld, DynaMaze, CartPole, Acrobot)
}

__all__ = [
    "ENVIRONMENTS",
    "Acrobot",
    "CartPole",
    "DynaMaze",
    "Environment",
    "GridWorld",
    "MazeGridWorld",
    "MountainCar",
    "gymnasium_factory",
    "make",
]


def gymnasium_factory(name: str) -> Factory:
    """A factory of the environments that Gymnasium knows by `name`, such as "Hopper-v5"."""
    try:
        gymnasium.spec(name)
    except (gymnasium.error.Error, ImportError) as error:
        known = [*ENVIRONMENTS, *gymnasium.registry]
        if isinstance(error, ImportError):
            raise FreqdynaError(f"env is {name!r}, which cannot be imported: {error}") from error
        raise unknown_name("environment", name, known) from None
    return factory_of(name)


def make(name: str, **settings: Any) -> Environment:
    """The environment called `name`, with `settings` such as `reward_noise=0.1`."""
    if name not in ENVIRONMENTS:
        raise unknown_name("environment", name, ENVIRONMENTS)
    kind = ENVIRONMENTS[name]
    known = [field.name for field in dataclasses.fields(kind)]
    for setting in settings:
        if setting not in known:
            raise unknown_name(f"setting of {name}", setting, known)
    return kind(**settings)
