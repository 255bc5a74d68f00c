"""Comparisons of trainings: statistics over seeds, and verdicts corrected for their number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from freqdyna.results.comparison.statistics import (
    LEVEL,
    holm,
    iqm,
    permutation_p,
    probability_of_improvement,
    stratified_interval,
)
from reproduction.base import Stored
from reproduction.claims import Claim, Verdict
from reproduction.stored_trainings import left_out

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
    """Which seeds are left out, see `stored_trainings.left_out`."""

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
    low, high = stratified_interval(partial(statistic, axis=-1), values)
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
        low, high = stratified_interval(_difference, better, worse)
        improvement = probability_of_improvement(better, worse)
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
    """Which seeds are left out, see `stored_trainings.left_out`."""

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
        low, high = stratified_interval(statistic, *one.pair, *one.than, level=level)
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
        low, high = stratified_interval(
            lambda a, b: a.std(-1, ddof=1) / np.maximum(b.std(-1, ddof=1), 1e-12), steady, other
        )
        verdict: Verdict = "undecided"
        if p < LEVEL:
            verdict = "holds" if ratio < 1 else "does not hold"
        range_ = f"[{low:.2f}, {high:.2f}], p = {p:.2g}"
        ours = _joined(f"ratio {ratio:.2f}", comparison.left_out)
        found.append(Claim(comparison.what, comparison.paper, ours, range_, verdict, "spread"))
    return found


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


def _difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(first.mean(-1) - second.mean(-1))
