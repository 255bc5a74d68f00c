"""Measured microseconds per step, and comparisons over equal time.

`freqdyna bench --controls FOLDER` measures and stores them, on the machine on which it runs.
"""

import json
from collections.abc import Mapping

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.experiments.base import Columns, Stored, Unit, Work
from freqdyna.experiments.parts.controls.design import Cell
from freqdyna.experiments.parts.controls.units import tuned_settings
from freqdyna.experiments.stored_trainings import curves, training_of

DEVICES = ("gpu", "cpu")
SEEDS = 30
"""Trained at once in each measurement."""
POINTS = 200
"""Points of time at which returns are compared."""

COLUMNS = ("domain", "control", "settings", "microseconds")
Times = Mapping[tuple[str, str], float]
"""Microseconds per step of one seed by domain and search-control."""


def _only_measured(work: Work) -> Columns:
    raise FreqdynaError("step times are measured by: freqdyna bench --controls FOLDER")


def unit(device: str) -> Unit:
    """The table of measurements on "cpu" or "gpu"."""
    return Unit(f"step-times-{device}", {"device": device, "seeds": SEEDS}, _only_measured)


UNITS = tuple(unit(device) for device in DEVICES)


def rows(columns: Columns) -> list[tuple[str, str, str, float]]:
    """The stored measurements: domain, search-control, its settings as JSON, and microseconds."""
    texts = (map(str, columns[name]) for name in COLUMNS[:-1])
    return list(zip(*texts, map(float, columns[COLUMNS[-1]]), strict=True))


def stored_times(units: Mapping[str, Stored]) -> dict[str, Times]:
    """The stored measurements by device, without those of settings that are no longer chosen."""
    found: dict[str, Times] = {}
    for device in DEVICES:
        stored = units.get(unit(device).name)
        if stored is not None:
            found[device] = {
                (domain, control): microseconds
                for domain, control, own, microseconds in rows(stored.columns)
                if json.loads(own) == tuned_settings(control, Cell(domain))
            }
    return found


def over_equal_time(
    trainings: Mapping[str, Stored], microseconds: Mapping[str, float]
) -> dict[str, np.ndarray]:
    """The mean return of each seed over the time that the fastest training needs.

    Time is counted from the end of the warm-up, during which nothing is learned.

    Args:
        trainings: Trainings of the same number of steps by name.
        microseconds: The time of a step by the same names.

    Returns:
        Shape (seeds,) by name.

    """
    found = {name: _against_time(one, microseconds[name]) for name, one in trainings.items()}
    least = min(times[-1] for times, _ in found.values())
    at = np.linspace(0, least, POINTS + 1)[1:]
    return {
        name: np.stack([np.interp(at, times, seed) for seed in returns]).mean(axis=1)
        for name, (times, returns) in found.items()
    }


def _against_time(stored: Stored, microseconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Times of the evaluations after the warm-up and returns: (evaluations,), (seeds, ...)."""
    steps, returns = curves(stored)
    since = steps - training_of(stored).config.warmup_steps
    return microseconds * since[since >= 0], returns[:, since >= 0]
