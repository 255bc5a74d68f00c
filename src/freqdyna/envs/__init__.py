"""The built-in environments, by name."""

import dataclasses
from typing import Any

from freqdyna.envs.acrobot import Acrobot
from freqdyna.envs.base import Environment
from freqdyna.envs.cart_pole import CartPole
from freqdyna.envs.dyna_maze import DynaMaze
from freqdyna.envs.grid_world import GridWorld
from freqdyna.envs.maze_grid_world import MazeGridWorld
from freqdyna.envs.mountain_car import MountainCar
from freqdyna.errors import unknown_name

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
    "make",
]


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
