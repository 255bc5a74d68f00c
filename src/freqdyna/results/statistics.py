"""Statistics over seeds: intervals, tests, and the correction for their number."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

LEVEL = 0.05
"""The level of all tests."""
RESAMPLES = 9999
"""Bootstrap resamples of comparisons, and random permutations."""


@lru_cache(maxsize=8)
def _resampled_shares(seeds: int, resamples: int) -> np.ndarray:
    """The share of each seed in each resample, shape (resamples, seeds).

    With it, the means of all resamples are one matrix product.
    """
    generator = np.random.default_rng(0)
    return generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds


def bootstrap_interval(
    values: np.ndarray, level: float = 0.95, resamples: int = 2000
) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap interval of the mean over seeds, the first axis of `values`.

    The same resamples of seeds are used for all other axes, and at every call. Both ends have the
    shape of the other axes.
    """
    means = np.tensordot(_resampled_shares(values.shape[0], resamples), values, axes=1)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def wider_than_rounding(low: float, high: float) -> tuple[float, float] | None:
    """An interval; None if its ends are equal, up to rounding."""
    return (low, high) if high - low > 1e-9 * max(abs(low), abs(high)) else None


def stratified_interval(
    statistic: Callable[..., np.ndarray], *groups: np.ndarray, level: float = 0.95
) -> tuple[float, float]:
    """Percentile bootstrap interval of any statistic; the seeds of each group are resampled.

    The statistic takes an array of shape (..., seeds) for each group and returns shape (...). A
    group has one number per seed, shape (seeds,).
    """
    places = _resampled_places(*map(len, groups))
    resamples = [group[chosen] for group, chosen in zip(groups, places, strict=True)]
    low, high = np.quantile(statistic(*resamples), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@lru_cache(maxsize=8)
def _resampled_places(*seeds: int) -> tuple[np.ndarray, ...]:
    """Which seeds each resample has, shape (RESAMPLES, seeds) for each group; slow to draw."""
    generator = np.random.default_rng(0)
    return tuple(generator.integers(number, size=(RESAMPLES, number)) for number in seeds)


@lru_cache(maxsize=8)
def _permuted_places(first: int, second: int) -> np.ndarray:
    """Which seeds are in the first group after each random permutation, (RESAMPLES, first)."""
    every = np.tile(np.arange(first + second), (RESAMPLES, 1))
    return np.random.default_rng(0).permuted(every, axis=1)[:, :first].copy()


def iqm(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The mean of the middle half of the seeds, which are along `axis`."""
    from scipy import stats  # takes longer to import than everything else in a small command

    return np.asarray(stats.trim_mean(values, 0.25, axis=axis))


def permutation_p(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of a two-sided permutation test of the difference of means; 1 without seeds.

    It is that of `scipy.stats.permutation_test`, which takes three to eight times as long for
    random permutations, because it draws one at a time.
    """
    if not (len(first) and len(second)):
        return 1.0
    pooled = np.concatenate([first, second])
    if min(len(first), len(second)) == 1:  # which SciPy refuses; the means follow the single seed
        single = first if len(first) == 1 else second
        extreme = min((pooled >= single).sum(), (pooled <= single).sum())
        return min(1.0, 2 * float(extreme) / len(pooled))
    if math.comb(len(pooled), len(first)) <= RESAMPLES:  # all permutations
        from scipy import stats

        def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
            return np.asarray(a.mean(axis) - b.mean(axis))

        test = stats.permutation_test(
            (first, second), difference, vectorized=True, n_resamples=RESAMPLES
        )
        return float(test.pvalue)
    sums = pooled[_permuted_places(len(first), len(second))].sum(axis=1)
    rounding = 1e-12 * np.abs(pooled).sum()
    above = int((sums >= first.sum() - rounding).sum())
    below = int((sums <= first.sum() + rounding).sum())
    return min(1.0, 2 * (min(above, below) + 1) / (RESAMPLES + 1))


def smallest_p(first: int, second: int) -> float:
    """The smallest p-value that `permutation_p` can return for two numbers of seeds."""
    if not (first and second):
        return 1.0
    permutations = math.comb(first + second, first)
    return min(1.0, 2 / (permutations if permutations <= RESAMPLES else RESAMPLES + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm's step-down method)."""
    corrected, greatest = np.ones(len(p_values)), 0.0
    for rank, place in enumerate(np.argsort(p_values)):
        greatest = max(greatest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = greatest
    return corrected.tolist()


def probability_of_improvement(first: np.ndarray, second: np.ndarray) -> float:
    """The probability that a seed of the first is above one of the second; ties count half."""
    return float(_improvements(first, second).mean())


def improvement_interval(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The 95% percentile bootstrap interval of `probability_of_improvement`."""
    generator = np.random.default_rng(0)
    shares, other_shares = (
        generator.multinomial(len(seeds), np.full(len(seeds), 1 / len(seeds)), size=RESAMPLES)
        / len(seeds)
        for seeds in (first, second)
    )
    means = ((shares @ _improvements(first, second)) * other_shares).sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _improvements(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """1 where a seed of the first is above one of the second, 0.5 where they are equal."""
    return np.asarray((first[:, None] > second) + 0.5 * (first[:, None] == second))


def first_step_above(steps: np.ndarray, returns: np.ndarray, threshold: float) -> np.ndarray:
    """The step of each seed's first evaluation above a threshold; infinite if there is none.

    `steps` has shape (evaluations,), `returns` (seeds, evaluations), the result (seeds,).
    """
    if not len(steps):
        return np.full(len(returns), np.inf)
    above = returns > threshold
    return np.where(above.any(axis=1), steps[above.argmax(axis=1)], np.inf)
