"""What B trains: Dyna-Frequency on MountainCar and on the maze, to look at the values learned."""

import shutil
from functools import partial
from typing import Any

import numpy as np

from freqdyna import runs
from freqdyna.experiments.base import Columns, Unit, Work
from freqdyna.results import run_folder

SETTINGS: dict[str, dict[str, Any]] = {
    "MountainCar-v0": {"seeds": 10, "steps": 15_000},
    # Fewer updates and steps than the paper's: minutes, not hours.
    "MazeGridWorld": {"seeds": 6, "steps": 12_000, "planning_steps": 10, "search_states": 20},
}
QUICK = {"seeds": 2, "steps": 300, "planning_steps": 1, "warmup_steps": 100}


def units(quick: bool) -> list[Unit]:
    """One unit an environment."""
    return [
        Unit(
            env,
            settings | (QUICK if quick else {}),
            partial(_train, env, settings | (QUICK if quick else {})),
        )
        for env, settings in SETTINGS.items()
    ]


def _train(env: str, settings: dict[str, Any], work: Work) -> Columns:
    """Trained parameters: a row for each seed and parameter."""
    folder = work.folder / "run"
    if (folder / run_folder.CONFIG).is_file():
        result = runs.resume(folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        result = runs.train(env, "dyna-frequency", out=folder, **settings)
    count = result.parameters.shape[1]
    return {
        "seed": np.repeat(result.seeds.astype(np.int32), count),
        "last_return": np.repeat(result.returns[:, -5:].mean(axis=1).astype(np.float32), count),
        "parameter": result.parameters.astype(np.float32).ravel(),
    }
