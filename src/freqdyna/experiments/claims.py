"""Claims: the paper's number beside ours, and a verdict by a stated rule, never by eye."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freqdyna.results.statistics import bootstrap_interval

Verdict = Literal["holds", "does not hold", "undecided", "none: quick"]

RULES = {
    "difference": "a difference holds if its whole 95% interval (bootstrap over seeds, paired by "
    "seed) is on the side that the paper claims (where its entry is '-': the row claims), "
    "does not hold if it is on the other side, and is undecided if it contains zero",
    "thresholds": "a difference in speed is judged as a difference is, at each of the thresholds "
    "of its row; it holds, or does not hold, if it does so at all of them, and is undecided "
    "otherwise",
    "sampling": "a share holds if the paper's number lies in the range of 95% of samples of the "
    "same size",
    "accuracy": "an equality or a bound holds if it is met to the accuracy given under the "
    "interval",
    "divergence": "an equality in the limit of a growing cut-off K does not hold if one side "
    "diverges: each doubling of K adds 2^p times what the one before added, and p > 0.5 at the "
    "last doubling, for every function; it is undecided otherwise",
    "comparison": "a comparison is decided by a permutation test of the means over seeds, "
    "two-sided, its p corrected for the number of comparisons of the figure (Holm): below 0.05 it "
    "holds if the first mean is the greater, and does not hold if it is the smaller; the interval "
    "is of the difference of means (bootstrap); P(better) is the probability that a seed of the "
    "first beats a seed of the second",
    "spread": "a statement about spread over seeds is decided by a Brown-Forsythe test, its p "
    "corrected for the number of such rows of the figure (Holm): below 0.05 it holds if the ratio "
    "is below 1, and does not hold if it is above",
    "interaction": "a difference of differences holds if its whole interval (bootstrap over seeds, "
    "at 95% for all such rows of the figure together, by Bonferroni) is above zero, does not hold "
    "if it is below, and is undecided otherwise",
    "every": "'not every one' holds if some interval (at 95% for all of them together, by "
    "Bonferroni) is wholly below zero, does not hold if all are wholly above, and is undecided "
    "otherwise",
    "correlation": "a ranking holds if the whole 95% interval of the mean rank correlation "
    "(bootstrap over seeds) is above 0.5, does not hold if it is below, and is undecided "
    "otherwise; and it is undecided if the sizes of the window do not agree",
}
GROWTH = 0.5
"""From where on p counts as divergence: it is below zero where there is a limit."""
RANK_CORRELATION = 0.5
"""From where on one thing is said to rank another."""


@dataclass(frozen=True)
class Claim:
    """One row of the report."""

    what: str
    paper: str
    ours: str
    interval: str
    verdict: Verdict
    rule: str
    """One of RULES."""


def difference(
    what: str, paper: str, differences: np.ndarray, negative: bool = True, form: str = "+.4f"
) -> Claim:
    """A paired difference, one number a seed, that the paper claims to be below (above) zero."""
    low, high = map(float, bootstrap_interval(differences))
    claimed, opposed = (high < 0, low > 0) if negative else (low > 0, high < 0)
    verdict: Verdict = "holds" if claimed else "does not hold" if opposed else "undecided"
    mean = float(differences.mean())
    return Claim(
        what, paper, f"{mean:{form}}", f"[{low:{form}}, {high:{form}}]", verdict, "difference"
    )


def agreeing(
    what: str,
    paper: str,
    by_threshold: Sequence[np.ndarray],
    negative: bool = True,
    form: str = "+.4f",
) -> Claim:
    """A paired difference at each of several thresholds, which must all give the same verdict."""
    found = [difference(what, paper, one, negative, form) for one in by_threshold]
    verdicts = {claim.verdict for claim in found}
    ours, intervals = (
        "; ".join(cells) for cells in zip(*((c.ours, c.interval) for c in found), strict=True)
    )
    verdict: Verdict = found[0].verdict if len(verdicts) == 1 else "undecided"
    return Claim(what, paper, ours, intervals, verdict, "thresholds")


def share(what: str, paper: float, samples: np.ndarray) -> Claim:
    """A percentage of the paper beside the same of many samples, in percent."""
    low, high = np.quantile(samples, [0.025, 0.975])
    verdict: Verdict = "holds" if low <= paper <= high else "does not hold"
    return Claim(
        what,
        f"{paper:.2f}%",
        f"{samples.mean():.2f}%",
        f"[{low:.2f}%, {high:.2f}%]",
        verdict,
        "sampling",
    )


def accuracy(what: str, paper: str, ours: str, error: float, tolerance: float) -> Claim:
    """An equality, whose error must not exceed the tolerance."""
    verdict: Verdict = "holds" if error <= tolerance else "does not hold"
    error_text = f"error {error:.1g}, allowed {tolerance:.0g}"
    return Claim(what, paper, ours, error_text, verdict, "accuracy")


def bound(what: str, paper: str, least: float, tolerance: float) -> Claim:
    """A lower bound of one, which the least value found may miss by rounding only."""
    verdict: Verdict = "holds" if least >= 1 - tolerance else "does not hold"
    return Claim(what, paper, f"{least:.4g}", f"allowed ≥ 1 − {tolerance:.0g}", verdict, "accuracy")


def divergence(what: str, paper: str, ratios: np.ndarray, cutoff: int) -> Claim:
    """That an equality fails because a side diverges.

    `ratios` has shape (3, functions): at a quarter of the cut-off, at half of it, and at it.
    """
    quarter, half, last = ratios
    growth = float(np.log2((last - half) / (half - quarter)).min())
    ours = f"ratio {last.min():.3g} at K = {cutoff}, p = {growth:.2f}"
    if growth > GROWTH:
        return Claim(what, paper, ours, "diverges", "does not hold", "divergence")
    return Claim(what, paper, ours, "", "undecided", "divergence")


def ranking(what: str, paper: str, correlations: Sequence[np.ndarray]) -> Claim:
    """A rank correlation, one number a seed, for each size of the window."""
    intervals = [tuple(map(float, bootstrap_interval(one))) for one in correlations]
    means = [float(one.mean()) for one in correlations]
    verdict: Verdict = "undecided"
    if all(low > RANK_CORRELATION for low, _ in intervals):
        verdict = "holds"
    elif all(high < RANK_CORRELATION for _, high in intervals):
        verdict = "does not hold"
    least, most = min(low for low, _ in intervals), max(high for _, high in intervals)
    ours = f"{min(means):+.2f} to {max(means):+.2f} by window"
    return Claim(what, paper, ours, f"within [{least:+.2f}, {most:+.2f}]", verdict, "correlation")
