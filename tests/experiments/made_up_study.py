"""Made-up trainings of the study of search-controls, with a known answer."""

import zlib

import numpy as np

from freqdyna.config import Config
from freqdyna.experiments.base import Stored
from freqdyna.experiments.parts.controls import units
from freqdyna.experiments.parts.controls.design import CONTROLS, ER
from freqdyna.results.record import Record

SEEDS, STEPS = 12, np.arange(500, 30_001, 500)


def made_up(settings, level, spread=5.0, queue_error=None):
    """Curves that rise to `level` after the warm-up."""
    generator = np.random.default_rng(zlib.crc32(str(sorted(settings.items())).encode()))
    returns = np.where(STEPS <= 5000, level - 100, level) + generator.normal(0, spread, (SEEDS, 1))
    metrics = {"return": returns}
    if queue_error is not None:
        metrics["model_error_queue"] = np.where(STEPS < 5000, np.nan, queue_error) + 0 * returns
    config, seeds = Config.of(settings | {"seeds": SEEDS, "steps": 30_000}), np.arange(SEEDS)
    record = Record(config, {}, seeds, STEPS, metrics, np.zeros((SEEDS, 0)), (), {})
    return Stored(metrics, settings, {}, record)


LEVELS = {"uniform": -110.0, "td-error": -100.0, "frequency": -200.0, ER: -300.0}


def level(settings):
    """Uniform loses on long tubes; learned models cost as much as their error."""
    control = ER if settings["algorithm"] == "er" else settings["algorithm"].removeprefix("dyna-")
    best = LEVELS.get(control, -250.0)
    if settings["env"] in ("TubeGridWorld-6", "TubeGridWorld-8") and control == "uniform":
        best = -400.0
    order = 1 + CONTROLS.index(control) if control in CONTROLS else 0
    lost = 10 * order if settings.get("model") == "learned" else 0
    error = 0.01 * order if settings.get("model") == "learned" else None
    return best - lost, error


def made_up_units(level=level):
    """All trainings but those for tuning.

    Args:
        level: From settings to the level of the curves and the model's error at the queue's states.

    """
    found = {}
    for unit in units.units(False)[36:]:
        height, error = level(unit.settings)
        found[unit.name] = made_up(unit.settings, height, queue_error=error)
    return found
