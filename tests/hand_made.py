"""Trainings with given curves, for tests that do not train."""

import numpy as np

from freqdyna.agents.algorithms import completed
from freqdyna.config import Config
from freqdyna.results.result import Result
from freqdyna.sweeps.execute import store
from freqdyna.sweeps.storage import Storage
from freqdyna.training.engines import Engine, TaskOutcome


def result(returns, every=10, **settings):
    """A finished training with these returns, shape (seeds, evaluations), every `every` steps."""
    returns = np.asarray(returns, np.float64)
    seeds, evaluations = returns.shape
    settings = {"env": "GridWorld", "warmup_steps": 0, **settings}
    config = completed(
        Config.of({"seeds": seeds, "steps": every * evaluations, "eval_every": every, **settings})
    )
    steps = every * np.arange(1, evaluations + 1)
    parameters = np.zeros((seeds, 0), np.float32)
    metrics = {"return": returns}
    return Result(config, {}, np.arange(seeds), steps, metrics, parameters, ())


class Instant(Engine):
    """Computes the units of a sweep without training; units with a batch size of 8 fail."""

    def slots(self):
        """One."""
        return 1

    def run(self, tasks):
        """Store a result of each unit, whose returns grow with the learning rate."""
        for task in tasks:
            location, units, _ = task.compute.args
            if units[0].config["batch_size"] == 8:
                yield TaskOutcome(task.name, "OSError: too large")
                continue
            for unit in units:
                config = unit.config
                seeds = np.arange(config.first_seed, config.first_seed + config.seeds)
                steps = np.arange(config.eval_every, config.steps + 1, config.eval_every)
                returns = 100 * config["learner.learning_rate"] + seeds[:, None] + 0.0 * steps
                parameters = np.ones((config.seeds, 1), np.float32)
                made = Result(config, {}, seeds, steps, {"return": returns}, parameters, (1,))
                store(Storage(location), unit, made)
            yield TaskOutcome(task.name)
