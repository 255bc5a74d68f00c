"""Curves of single seeds, and their values at common steps."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freqdyna.core.errors import FreqdynaError

POINTS = 100
"""The largest number of intervals of a curve whose seeds were recorded at different steps."""


class Curve(NamedTuple):
    """The returns of one seed."""

    seed: int
    steps: np.ndarray
    """Environment steps, strictly increasing, shape (points,), at least one."""
    returns: np.ndarray
    """Shape (points,)."""


class CommonCurves(NamedTuple):
    """The returns of all seeds at the same steps."""

    steps: np.ndarray
    """Shape (points,)."""
    returns: np.ndarray
    """Shape (seeds, points), in the order of the curves."""
    every: int | None
    """The length of the intervals over which returns were averaged; None if they were not."""


def sorted_curve(seed: int, steps: np.ndarray, returns: np.ndarray) -> Curve:
    """A curve of points in any order; several returns at one step are averaged."""
    order, place = np.unique(steps, return_inverse=True)
    sums = np.bincount(place, weights=returns, minlength=len(order))
    return Curve(seed, order, sums / np.bincount(place, minlength=len(order)))


def at_common_steps(curves: Sequence[Curve], every: int | None = None) -> CommonCurves:
    """The returns of all seeds at common steps.

    If all seeds have the same steps, these are kept. Otherwise, as for the episodes of a training,
    the return at each multiple of `every` is the mean over the interval that ends there, or the
    latest return before if the interval has none.

    Args:
        curves: The curves, at least one.
        every: The length of the intervals; None to keep equal steps, or for up to `POINTS` of them.

    """
    first = curves[0].steps
    if every is None and all(np.array_equal(curve.steps, first) for curve in curves):
        return CommonCurves(first, np.stack([curve.returns for curve in curves]), None)
    begin = max(curves, key=lambda curve: curve.steps[0])
    end = min(curves, key=lambda curve: curve.steps[-1])
    low, high = int(begin.steps[0]), int(end.steps[-1])
    if low > high:
        raise FreqdynaError(
            f"the seeds have no common steps: seed {end.seed} ends at step {high:,}, and seed "
            f"{begin.seed} begins at step {low:,}"
        )
    if every is None:
        every = _round_number((high - low) / POINTS)
    steps = every * np.arange(-(-low // every), high // every + 1)
    if not len(steps):
        steps = np.array([high])
    return CommonCurves(steps, np.stack([_averaged(c, steps, every) for c in curves]), every)


def _averaged(curve: Curve, steps: np.ndarray, every: int) -> np.ndarray:
    sums = np.concatenate([[0.0], np.cumsum(curve.returns)])
    before, until = (
        np.searchsorted(curve.steps, ends, side="right") for ends in (steps - every, steps)
    )
    numbers = until - before
    means = (sums[until] - sums[before]) / np.maximum(numbers, 1)
    return np.where(numbers > 0, means, curve.returns[until - 1])


def _round_number(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is not smaller."""
    power = 10 ** math.floor(math.log10(max(least, 1.0)))
    return next(int(factor * power) for factor in (1, 2, 5, 10) if factor * power >= least)
