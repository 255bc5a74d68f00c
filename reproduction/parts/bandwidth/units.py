"""What B trains: Q networks on MountainCar and the maze, whose values are then analysed."""

import shutil
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from freqdyna import envs
from freqdyna.config import Config
from freqdyna.envs.walled_square import WalledSquare
from freqdyna.results import run_folder
from freqdyna.training import api
from reproduction.base import Columns, Unit, Work
from reproduction.trainings import PRESET

TRAININGS: dict[str, dict[str, Any]] = {
    "MountainCar-v0": {"algorithm": "dyna-frequency", "seeds": 10, "steps": 15_000},
    # Planning from uniform states needs no climbs, and with a third of the paper's updates it
    # solves the maze in minutes, where the paper's algorithms take hours.
    "MazeGridWorld": {
        "algorithm": "dyna-uniform",
        "seeds": 10,
        "steps": 40_000,
        "planning_steps": 10,
    },
}
QUICK = {"seeds": 2, "steps": 300, "planning_steps": 1, "warmup_steps": 100, "eval_every": 50}
NO_MATTER = ("devices", "normalize", "target_rate")
"""Settings without effect here: they are for Gymnasium environments and for NAF."""
LAST = 5
"""The number of last evaluations that decide whether a seed has solved the task."""


def units(quick: bool) -> list[Unit]:
    """One unit per environment."""
    return [learned(env, quick, env=env, **given) for env, given in TRAININGS.items()]


def learned(name: str, quick: bool, **settings: Any) -> Unit:
    """A training of which the parameters are stored.

    Args:
        name: The name of the unit.
        quick: Whether to use a much smaller size.
        **settings: Settings that differ from PRESET.

    """
    config = Config.of(settings | (QUICK if quick else {}), PRESET)
    return Unit(name, _settings(config), partial(_train, config))


def _settings(config: Config) -> dict[str, Any]:
    """All settings of the training that affect its numbers, for JSON.

    They include the walls, because the values depend on the maze.
    """
    settings = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in config.without_new_settings().items()
        if name not in NO_MATTER
    }
    env = envs.make(config.env)
    if isinstance(env, WalledSquare):
        settings["walls"] = env.blocks.astype(float).round(6).tolist()
    return settings | {"last_evaluations": LAST}


def _train(config: Config, work: Work) -> Columns:
    """The trained parameters, one row per seed and parameter."""
    folder = work.folder / "run"
    if (folder / run_folder.CONFIG).is_file():
        result = api.resume(folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        result = api.train(out=folder, **asdict(config))
    count = result.parameters.shape[1]
    last = result.returns[:, -LAST:].mean(axis=1)
    return {
        "seed": np.repeat(result.seeds.astype(np.int32), count),
        "last_return": np.repeat(last.astype(np.float32), count),
        "parameter": result.parameters.astype(np.float32).ravel(),
    }
