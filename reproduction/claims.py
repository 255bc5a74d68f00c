"""Claims: a statement of the paper, its number, our number, and a verdict by a stated rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from freqdyna.results.statistics import LEVEL, bootstrap_interval

Verdict = Literal["holds", "does not hold", "undecided", "depends"]
"""A claim depends if interpretations of the paper lead to different verdicts."""

RULES = {
    "difference": "a difference holds if its whole interval (bootstrap over seeds, paired by seed, "
    "at 95% for all such rows of the figure together, by Bonferroni) is on the side that the paper "
    "claims (or, if the paper's entry is '-', that the row states), does not hold if it is on the "
    "other side, and is undecided if it contains zero",
    "thresholds": "a difference in speed is judged like a difference, at each of the thresholds of "
    "its row; it holds, or does not hold, if it does so at all of them, and is undecided otherwise",
    "sampling": "a percentage holds if the paper's number is within the range of 95% of samples of "
    "the same size",
    "accuracy": "an equality or a bound holds if it is satisfied up to the accuracy in the column "
    "of the interval",
    "divergence": "an equality in the limit of an increasing cutoff K does not hold if one side "
    "diverges: each doubling of K adds 2^p times what the previous one added, and p > 0.5 at the "
    "last doubling, for every function; otherwise it is undecided",
    "frequent": "'frequently' holds if it is so in more than 5% of the steps of more than half of "
    "the seeds; the paper gives no number, and this one was chosen after the data were seen",
    "comparison": "a comparison is decided by a two-sided permutation test of the means over "
    "seeds (p is twice that of the smaller tail), with p corrected for the number of comparisons "
    "in the figure (Holm): if p is below "
    "0.05, it holds if the first mean is greater, and does not hold if it is smaller; otherwise it "
    "is undecided; the interval is that of the difference of means (bootstrap); P(better) is the "
    "probability that a seed of the first beats a seed of the second",
    "spread": "a statement about the spread over seeds is decided by a Brown-Forsythe test, with p "
    "corrected for the number of such rows in the figure (Holm): if p is below 0.05, it holds if "
    "the ratio is below 1, and does not hold if it is above; otherwise it is undecided",
    "interaction": "a difference of differences holds if its whole interval (bootstrap over seeds, "
    "at 95% for all such rows of the figure together, by Bonferroni) is above zero, does not hold "
    "if it is below, and is undecided otherwise",
    "every": "'not every algorithm' holds if any interval (at 95% for all of them together, by "
    "Bonferroni) is entirely below zero, does not hold if all are entirely above, and is undecided "
    "otherwise",
    "correlation": "a ranking holds if the whole interval of the mean rank correlation (bootstrap "
    "over seeds, at 95% for all rows together, by Bonferroni) is above 0.5 for every window size, "
    "does not hold if it is below 0.5 for every window size, and is undecided otherwise",
}
GROWTH = 0.5
"""Divergence is assumed if p is greater than this; if there is a limit, p is below zero."""
RESAMPLES = 20_000
"""Enough for the ends of intervals that are corrected for dozens of rows."""
RANK_CORRELATION = 0.5
"""The rank correlation above which one quantity is said to rank another."""


@dataclass(frozen=True)
class Statement:
    """What the paper claims, in one sentence; several claims may test it."""

    text: str
    main: bool = False
    """Whether a reader with one minute should know it."""


@dataclass(frozen=True)
class Claim:
    """One row of the report."""

    statement: Statement
    what: str
    paper: str
    ours: str
    interval: str
    verdict: Verdict
    rule: str
    """One of RULES."""
    interpretation: str = ""
    """The interpretation of the paper that the claim is about, if it is about one."""
    by_interpretation: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdict under each interpretation, if the claim was tested under several."""


def difference(
    statement: Statement,
    what: str,
    paper: str,
    differences: np.ndarray,
    negative: bool = True,
    form: str = "+.4f",
    rows: int = 1,
) -> Claim:
    """A paired difference that the paper claims to be below (or above) zero."""
    low, high = corrected_interval(differences, rows)
    claimed, opposed = (high < 0, low > 0) if negative else (low > 0, high < 0)
    verdict: Verdict = "holds" if claimed else "does not hold" if opposed else "undecided"
    ours, interval = f"{float(differences.mean()):{form}}", f"[{low:{form}}, {high:{form}}]"
    return Claim(statement, what, paper, ours, interval, verdict, "difference")


def agreeing(
    statement: Statement, what: str, paper: str, by_threshold: Sequence[np.ndarray], **how: Any
) -> Claim:
    """Differences (see there) at several thresholds, which must all lead to the same verdict."""
    each = [difference(statement, what, paper, one, **how) for one in by_threshold]
    verdicts = {claim.verdict for claim in each}
    ours, intervals = (
        "; ".join(cells) for cells in zip(*((c.ours, c.interval) for c in each), strict=True)
    )
    verdict: Verdict = each[0].verdict if len(verdicts) == 1 else "undecided"
    return Claim(statement, what, paper, ours, intervals, verdict, "thresholds")


def share(statement: Statement, what: str, paper: float, samples: np.ndarray) -> Claim:
    """The paper's percentage compared with those of many samples, all in percent."""
    low, high = np.quantile(samples, [0.025, 0.975])
    verdict: Verdict = "holds" if low <= paper <= high else "does not hold"
    ours, interval = f"{samples.mean():.2f}%", f"[{low:.2f}%, {high:.2f}%]"
    return Claim(statement, what, f"{paper:.2f}%", ours, interval, verdict, "sampling")


def accuracy(
    statement: Statement, what: str, paper: str, ours: str, error: float, tolerance: float
) -> Claim:
    """An equality, whose error must not exceed the tolerance."""
    verdict: Verdict = "holds" if error <= tolerance else "does not hold"
    error_text = f"error {error:.1g}, allowed {tolerance:.0g}"
    return Claim(statement, what, paper, ours, error_text, verdict, "accuracy")


def bound(statement: Statement, what: str, paper: str, least: float, tolerance: float) -> Claim:
    """A lower bound of one, which the smallest value may miss by at most the tolerance."""
    verdict: Verdict = "holds" if least >= 1 - tolerance else "does not hold"
    allowed = f"allowed ≥ 1 − {tolerance:.0g}"
    return Claim(statement, what, paper, f"{least:.4g}", allowed, verdict, "accuracy")


def divergence(
    statement: Statement, what: str, paper: str, ratios: np.ndarray, cutoff: int
) -> Claim:
    """An equality that fails because one side diverges."""
    quarter, half, last = ratios
    growth = float(np.log2((last - half) / (half - quarter)).min())
    ours = f"ratio {last.min():.3g} at K = {cutoff}, p = {growth:.2f}"
    if growth > GROWTH:
        return Claim(statement, what, paper, ours, "diverges", "does not hold", "divergence")
    return Claim(statement, what, paper, ours, "", "undecided", "divergence")


def ranking(
    statement: Statement, what: str, paper: str, correlations: Sequence[np.ndarray], rows: int = 1
) -> Claim:
    """A rank correlation for several window sizes."""
    intervals = [corrected_interval(one, rows) for one in correlations]
    means = [float(one.mean()) for one in correlations]
    verdict: Verdict = "undecided"
    if all(low > RANK_CORRELATION for low, _ in intervals):
        verdict = "holds"
    elif all(high < RANK_CORRELATION for _, high in intervals):
        verdict = "does not hold"
    least, most = min(low for low, _ in intervals), max(high for _, high in intervals)
    ours = f"{min(means):+.2f} to {max(means):+.2f} by window"
    within = f"within [{least:+.2f}, {most:+.2f}]"
    return Claim(statement, what, paper, ours, within, verdict, "correlation")


def corrected_interval(values: np.ndarray, rows: int) -> tuple[float, float]:
    """A bootstrap interval of the mean, at 95% for as many rows together (Bonferroni)."""
    low, high = bootstrap_interval(values, 1 - LEVEL / rows, RESAMPLES)
    return float(low), float(high)
