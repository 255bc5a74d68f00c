"""What a comparison of few seeds can and cannot show, in sentences."""

from collections.abc import Sequence
from functools import cache

from scipy import optimize, stats

from freqdyna.results.comparison.statistics import LEVEL, smallest_p

FEW = 10
"""Fewer seeds than this need an explanation."""
POWER = 0.8
NO_INTERVAL = (
    "A number has no interval if all resamples of the seeds give the same one: P(better) if all "
    "seeds of one run are above all of the other, a mean or a difference if the seeds of a run are "
    "equal. It is not exact: other seeds may differ."
)
_RANGE = {2: "50%", 3: "75%"}
"""How often the range of so many seeds contains the mean of a symmetric distribution."""


def few_seeds_notes(pairs: Sequence[tuple[int, int]], comparisons: int) -> list[str]:
    """Sentences about the comparisons of few seeds; empty if all have enough.

    Args:
        pairs: The numbers of seeds of each comparison.
        comparisons: The number of comparisons that p-values are corrected for.

    """
    few = sorted({(min(pair), max(pair)) for pair in pairs if 0 < min(pair) < FEW})
    notes = []
    for number in sorted({number for pair in few for number in pair if number < 4}):
        notes.append(
            "One seed has no interval: how much the return varies between seeds is unknown."
            if number == 1
            else f"An interval from {number} seeds is only their range, from the lowest to the "
            f"highest; it contains the true mean in about {_RANGE[number]} of such studies, not "
            "in 95%."
        )
    if any(4 <= number < FEW for pair in few for number in pair):
        notes.append(
            f"Bootstrap intervals from fewer than {FEW} seeds are too narrow: they contain the "
            "true mean less often than in 95% of such studies (84% with 5 normally distributed "
            "seeds)."
        )
    return notes + [_what_can_be_shown(first, second, comparisons) for first, second in few]


def _what_can_be_shown(first: int, second: int, comparisons: int) -> str:
    seeds, least = f"With {first} and {second} seeds", smallest_p(first, second)
    if first == second == 1:
        seeds = "With 1 seed each"
    if least >= LEVEL:
        return (
            f"{seeds}, no difference can be shown, however large: the smallest p that the "
            f"permutation test can return is {least:.2g}, above {LEVEL:g}."
        )
    if least * comparisons >= LEVEL:
        return (
            f"{seeds}, a difference alone cannot be shown among {comparisons} comparisons: the "
            f"smallest p that the permutation test can return is {least:.2g}, which Holm's "
            f"correction multiplies by up to {comparisons}."
        )
    size = detectable_difference(first, second, LEVEL / comparisons)
    among = f" among {comparisons} comparisons" if comparisons > 1 else ""
    return (
        f"{seeds}, a difference is shown{among} in {POWER:.0%} of such studies only if it is about "
        f"{size:.1f} standard deviations between seeds or larger; a smaller one may exist and "
        "remain undecided."
    )


@cache
def detectable_difference(first: int, second: int, level: float) -> float:
    """The difference that a two-sided t-test finds with a probability of `POWER`.

    The permutation test is about as powerful for normally distributed seeds.

    Args:
        first: The number of seeds of one run, at least 1; together at least 3.
        second: That of the other.
        level: The level of the test.

    Returns:
        The difference in standard deviations between seeds.

    """
    freedom = first + second - 2
    critical = stats.t.ppf(1 - level / 2, freedom)
    scale = (first * second / (first + second)) ** 0.5
    return float(
        optimize.brentq(
            lambda size: stats.nct.sf(critical, freedom, size * scale) - POWER, 1e-3, 100.0
        )
    )
