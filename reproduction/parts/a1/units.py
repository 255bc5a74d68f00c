"""What A1 trains: tabular Dyna with 0, 5 and 50 planning updates per step, as Sutton and Barto."""

import shutil
from functools import partial
from typing import Any

import numpy as np

from freqdyna.training import api
from reproduction.base import Columns, Unit, Work
from reproduction.trainings import PRESET

UPDATES = (0, 5, 50)
EPISODES = 50
QUICK = {"seeds": 3, "steps": 4000}


def units(quick: bool) -> list[Unit]:
    """One unit per number of updates."""
    return [_unit(updates, quick) for updates in UPDATES]


def _unit(updates: int, quick: bool) -> Unit:
    settings: dict[str, Any] = {
        **{"env": "DynaMaze", "algorithm": "tabular-dyna-q", "discount": 0.95},
        **{"planning_steps": updates, "seeds": 30, "steps": 16_000, "eval_every": 4000},
    } | (QUICK if quick else {})
    return Unit(f"updates-{updates}", settings, partial(_train, settings))


def _train(settings: dict[str, Any], work: Work) -> Columns:
    """The lengths of the first training episodes, one row per seed and episode."""
    folder, steps = work.folder / "run", settings["steps"]
    shutil.rmtree(folder, ignore_errors=True)
    result = api.train(
        out=folder, preset=PRESET, snapshot_steps=(steps,), progress=False, **settings
    )
    lengths = result.snapshots[steps]["episode_lengths"][:, :EPISODES]
    return {
        "seed": np.repeat(result.seeds.astype(np.int32), EPISODES),
        "episode": np.tile(np.arange(1, EPISODES + 1, dtype=np.int32), len(lengths)),
        "length": lengths.astype(np.int32).ravel(),
    }
