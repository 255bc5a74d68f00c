"""Made-up trainings with known curves and states."""

import zlib
from dataclasses import replace

import numpy as np

from freqdyna.envs import MazeGridWorld
from freqdyna.results.record import Record
from reproduction.study import Stored, curves_of, training

SEEDS = 12
FACTS = {"device_kind": "-", "machine": "-", "devices": 1, "date": "2026-01-01", "commit": "-"}
FACTS |= {"command": "-", "versions": {}}


def a_training(levels, diverged=()):
    """A stored training whose seeds return these levels; seeds in `diverged` do from step 40 on."""
    size = {"seeds": len(levels), "steps": 100, "warmup_steps": 10, "eval_every": 10}
    unit = training(False, env="MountainCar-v0", algorithm="er", **size)
    at = np.full((len(levels), 10), -1)
    at[list(diverged), 3:] = 35
    returns = np.repeat(np.array(levels, np.float32)[:, None], 10, axis=1)
    returns[at >= 0] = np.nan
    return stored(unit, {"return": returns, "diverged_at": at})


def rising(unit, level, spread=10.0, near_hole=0.1, vanished=0.01):
    """Curves that rise to `level` at the end of the warm-up, and queues near a hole."""
    unit = replace(unit, settings=unit.settings | {"seeds": SEEDS, "eval_every": 1000})
    generator = np.random.default_rng(zlib.crc32(unit.name.encode()))
    steps = _steps(unit)
    returns = np.where(steps < 5000, -2000.0, level) + generator.normal(0, spread, (SEEDS, 1))
    metrics = {"return": returns, "climb_iterations": np.full(returns.shape, 30.0)}
    metrics |= dict.fromkeys(("climb_vanished", "climb_vanished_value"), np.zeros(returns.shape))
    metrics["climb_vanished_frequency"] = np.full(returns.shape, vanished)
    points = generator.uniform(0.85, 1.0, (SEEDS, 1000, 2))
    for queue, inside in zip(points, generator.binomial(1000, near_hole, SEEDS), strict=True):
        queue[:inside] = MazeGridWorld.walls[0].hole_center
    at = unit.config.snapshot_steps
    return stored(unit, metrics, {step: {"queue": points, "replay": points} for step in at})


def stored(unit, metrics, snapshots=None):
    seeds = np.arange(unit.config.seeds)
    parameters = np.zeros((len(seeds), 0), np.float32)
    steps = _steps(unit)
    record = Record(unit.config, FACTS, seeds, steps, metrics, parameters, (), snapshots or {})
    return Stored(unit, curves_of(record), FACTS)


def _steps(unit):
    every = unit.config.eval_every
    return np.arange(every, unit.config.steps + 1, every)
