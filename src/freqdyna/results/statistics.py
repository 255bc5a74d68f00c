"""Statistics over seeds."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=8)
def _resampled_shares(seeds: int, resamples: int) -> np.ndarray:
    """The share of each seed in each resample, so that all means are one matrix product.

    Returns:
        Shape (resamples, seeds).

    """
    generator = np.random.default_rng(0)
    return generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds


def bootstrap_interval(
    values: np.ndarray, level: float = 0.95, resamples: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap interval of the mean over seeds.

    The same resamples of seeds are used for all other axes, and at every call.

    Args:
        values: Shape (seeds, ...).
        level: The level of the interval.
        resamples: The number of resamples.

    Returns:
        The lower and upper ends, each of shape (...).

    """
    means = np.tensordot(_resampled_shares(values.shape[0], resamples), values, axes=1)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def interval_of_mean(values: np.ndarray) -> tuple[float, float] | None:
    """The 95% bootstrap interval of a mean over seeds, of shape (seeds,), if resampling shows one.

    None for one seed, and for equal seeds.
    """
    low, high = map(float, bootstrap_interval(values))
    return wider_than_rounding(low, high)


def wider_than_rounding(low: float, high: float) -> tuple[float, float] | None:
    """An interval; None if its ends are equal, up to rounding."""
    return (low, high) if high - low > 1e-9 * max(abs(low), abs(high)) else None
