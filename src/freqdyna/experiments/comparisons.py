"""Comparisons of trainings: statistics over seeds, and verdicts corrected for their number."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from freqdyna.experiments.base import Stored
from freqdyna.experiments.claims import LEVEL, Claim, Verdict
from freqdyna.experiments.trainings import left_out

RESAMPLES = 9999
FEWEST_FOR_SPREAD = 2


NO_SEEDS = "none: no seed is left"
Measure = Callable[[Stored], np.ndarray]
"""From a training to one number for each seed that neither diverged nor stopped."""


@dataclass(frozen=True)
class Comparison:
    """The claim that `better` is above `worse`; both have one number per seed."""

    what: str
    paper: str
    better: np.ndarray
    worse: np.ndarray
    left_out: str = ""
    """Which seeds are left out, see `trainings.left_out`."""

    @staticmethod
    def of(what: str, paper: str, measure: Measure, better: Stored, worse: Stored) -> "Comparison":
        """The comparison of two trainings by a measure."""
        return Comparison(what, paper, measure(better), measure(worse), left_out(better, worse))


def mean_with_interval(
    values: np.ndarray, digits: int = 0, unit: str = "", statistic: Callable[..., Any] = np.mean
) -> str:
    """A statistic over seeds with its 95% interval, as text; `NO_SEEDS` if there are none.

    Args:
        values: One number per seed, shape (seeds,).
        digits: The number of decimals.
        unit: Follows the statistic.
        statistic: From shape (..., seeds), with the argument axis, to shape (...).

    """
    if not len(values):
        return NO_SEEDS
    low, high = interval(partial(statistic, axis=-1), values)
    found = float(statistic(values, axis=-1))
    return f"{found:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"


def signed(*numbers: float) -> list[str]:
    """Numbers with signs, rounded to integers, or to one decimal if all are small; never -0."""
    digits = int(max(map(abs, numbers)) < 10)
    return [f"{number:+z.{digits}f}" for number in numbers]


def judge(comparisons: Sequence[Comparison]) -> list[Claim]:
    """A verdict on each comparison, by tests corrected for their number (Holm)."""
    corrected = holm([permutation_p(c.better, c.worse) for c in comparisons])
    found = []
    for comparison, p in zip(comparisons, corrected, strict=True):
        better, worse = comparison.better, comparison.worse
        if not (len(better) and len(worse)):
            found.append(_undecided(comparison, "comparison"))
            continue
        verdict: Verdict = "undecided"
        if p < LEVEL:
            verdict = "holds" if better.mean() > worse.mean() else "does not hold"
        low, high = interval(_difference, better, worse)
        improvement = _probability_of_improvement(better, worse)
        numbers = better.mean() - worse.mean(), float(iqm(better) - iqm(worse)), low, high
        mean, middle, least, most = signed(*numbers)
        ours = f"mean {mean}, IQM {middle}, P(better) {improvement:.2f}"
        found.append(
            Claim(
                comparison.what,
                comparison.paper,
                _joined(ours, comparison.left_out),
                f"[{least}, {most}], p = {p:.2g}",
                verdict,
                "comparison",
            )
        )
    return found


@dataclass(frozen=True)
class Interaction:
    """The claim that the difference within `pair`, first minus second, exceeds that of `than`."""

    what: str
    paper: str
    pair: tuple[np.ndarray, np.ndarray]
    than: tuple[np.ndarray, np.ndarray]
    left_out: str = ""
    """Which seeds are left out, see `trainings.left_out`."""

    @staticmethod
    def of(
        what: str,
        paper: str,
        measure: Measure,
        pair: tuple[Stored, Stored],
        than: tuple[Stored, Stored],
    ) -> "Interaction":
        """The interaction of four trainings by a measure."""
        (a, b), (c, d) = pair, than
        numbers = (measure(a), measure(b)), (measure(c), measure(d))
        return Interaction(what, paper, *numbers, left_out(a, b, c, d))


def judge_interactions(interactions: Sequence[Interaction]) -> list[Claim]:
    """A verdict on each interaction, by intervals corrected for their number (Bonferroni)."""

    def statistic(*groups: np.ndarray) -> np.ndarray:
        a, b, c, d = (group.mean(-1) for group in groups)
        return np.asarray((a - b) - (c - d))

    found = []
    for one in interactions:
        value = float(statistic(*one.pair, *one.than))
        level = 1 - LEVEL / len(interactions)
        low, high = interval(statistic, *one.pair, *one.than, level=level)
        verdict: Verdict = "holds" if low > 0 else "does not hold" if high < 0 else "undecided"
        ours, least, most = signed(value, low, high)
        range_ = f"[{least}, {most}], corrected"
        ours = _joined(ours, one.left_out)
        found.append(Claim(one.what, one.paper, ours, range_, verdict, "interaction"))
    return found


def judge_spread(comparisons: Sequence[Comparison]) -> list[Claim]:
    """Whether the spread over seeds is smaller in `better`: ratios of standard deviations."""
    tests = [_brown_forsythe(c.better, c.worse) for c in comparisons]
    found = []
    for comparison, p in zip(comparisons, holm(tests), strict=True):
        steady, other = comparison.better, comparison.worse
        if min(len(steady), len(other)) < FEWEST_FOR_SPREAD:
            found.append(_undecided(comparison, "spread"))
            continue
        ratio = float(steady.std(ddof=1) / max(other.std(ddof=1), 1e-12))
        low, high = interval(
            lambda a, b: a.std(-1, ddof=1) / np.maximum(b.std(-1, ddof=1), 1e-12), steady, other
        )
        verdict: Verdict = "undecided"
        if p < LEVEL:
            verdict = "holds" if ratio < 1 else "does not hold"
        range_ = f"[{low:.2f}, {high:.2f}], p = {p:.2g}"
        ours = _joined(f"ratio {ratio:.2f}", comparison.left_out)
        found.append(Claim(comparison.what, comparison.paper, ours, range_, verdict, "spread"))
    return found


def permutation_p(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of a two-sided permutation test of the difference of means; 1 without seeds.

    It is that of `scipy.stats.permutation_test`, which takes three to eight times as long for
    random permutations, because it draws one at a time.
    """
    if not (len(first) and len(second)):
        return 1.0
    pooled, generator = np.concatenate([first, second]), np.random.default_rng(0)
    if math.comb(len(pooled), len(first)) <= RESAMPLES:  # all permutations

        def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
            return np.asarray(a.mean(axis) - b.mean(axis))

        found = stats.permutation_test(
            (first, second), difference, vectorized=True, n_resamples=RESAMPLES
        )
        return float(found.pvalue)
    drawn = generator.permuted(np.tile(pooled, (RESAMPLES, 1)), axis=1)[:, : len(first)].sum(axis=1)
    rounding = 1e-12 * np.abs(pooled).sum()
    above = int((drawn >= first.sum() - rounding).sum())
    below = int((drawn <= first.sum() + rounding).sum())
    return min(1.0, 2 * (min(above, below) + 1) / (RESAMPLES + 1))


def _brown_forsythe(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of a Brown-Forsythe test of the spread; 1 if there are too few seeds."""
    if min(len(first), len(second)) < FEWEST_FOR_SPREAD:
        return 1.0
    return float(stats.levene(first, second, center="median").pvalue)


def _undecided(comparison: Comparison, rule: str) -> Claim:
    """The claim of a comparison for which too few seeds are left."""
    ours = _joined(
        NO_SEEDS if rule == "comparison" else "none: fewer than two seeds are left",
        comparison.left_out,
    )
    return Claim(comparison.what, comparison.paper, ours, "", "undecided", rule)


def _joined(ours: str, left_out: str) -> str:
    return f"{ours}; {left_out}" if left_out else ours


def _probability_of_improvement(first: np.ndarray, second: np.ndarray) -> float:
    """The probability that a seed of the first is above one of the second; ties count half."""
    above = first[:, None] > second
    return float((above + 0.5 * (first[:, None] == second)).mean())


def _difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(first.mean(-1) - second.mean(-1))


def interval(
    statistic: Callable[..., np.ndarray], *groups: np.ndarray, level: float = 0.95
) -> tuple[float, float]:
    """A stratified percentile bootstrap interval: the seeds of each group are resampled.

    Args:
        statistic: From arrays of shape (..., seeds), one per group, to shape (...).
        *groups: One number per seed, shape (seeds,).
        level: The level of the interval.

    Returns:
        The lower and the upper end.

    """
    generator = np.random.default_rng(0)
    drawn = [
        group[generator.integers(len(group), size=(RESAMPLES, len(group)))] for group in groups
    ]
    low, high = np.quantile(statistic(*drawn), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def iqm(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The mean of the middle half of the seeds, which are along `axis`."""
    return np.asarray(stats.trim_mean(values, 0.25, axis=axis))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm's step-down method)."""
    order = np.argsort(p_values)
    corrected, greatest = np.ones(len(p_values)), 0.0
    for rank, place in enumerate(order):
        greatest = max(greatest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = greatest
    return corrected.tolist()
