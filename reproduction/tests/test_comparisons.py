"""Verdicts on samples with known means and spreads."""

import numpy as np

from freqdyna.results.comparison.statistics import permutation_p
from reproduction.comparisons import (
    Comparison,
    Interaction,
    judge,
    judge_interactions,
    judge_spread,
)


def normal(mean, spread=1.0, seeds=30, seed=0):
    return np.random.default_rng(seed).normal(mean, spread, seeds)


def test_verdicts_follow_the_means():
    above = Comparison("a", "above 0", normal(2), normal(0, seed=1))
    below = Comparison("b", "above 0", normal(0), normal(2, seed=1))
    equal = Comparison("c", "above 0", normal(0), normal(0.1, seed=1))
    verdicts = [claim.verdict for claim in judge([above, below, equal])]
    assert verdicts == ["holds", "does not hold", "undecided"]


def test_a_difference_that_one_test_would_see_is_not_seen_among_many():
    pair = normal(0.55), normal(0.0, seed=1)
    p = permutation_p(*pair)
    assert 0.005 < p < 0.05
    alone = judge([Comparison("a", "above 0", *pair)])
    among = judge([Comparison("a", "above 0", *pair)] * 20)
    assert alone[0].verdict == "holds"
    assert {claim.verdict for claim in among} == {"undecided"}


def test_distances_are_compared():
    zero, one, three = normal(0), normal(1, seed=1), normal(3, seed=2)
    pairs = (((three, zero), (one, zero)), ((one, zero), (three, zero)), ((one, zero), (one, zero)))
    claims = judge_interactions([Interaction("a", "", *pair) for pair in pairs])
    assert [claim.verdict for claim in claims] == ["holds", "does not hold", "undecided"]


def test_more_distances_have_wider_intervals():
    """As many as are looked at, the chance that one of them is called great by mistake stays."""
    one = Interaction("a", "", (normal(0.65), normal(0, seed=1)), (normal(0), normal(0, seed=1)))
    assert judge_interactions([one])[0].verdict == "holds"
    assert judge_interactions([one] * 40)[0].verdict == "undecided"


def test_spread_is_compared():
    steady, wild = normal(0, 0.2), normal(0, 2.0, seed=1)
    pairs = ((steady, wild), (wild, steady), (normal(0), normal(5, seed=1)))
    claims = judge_spread([Comparison("a", "", *pair) for pair in pairs])
    assert [claim.verdict for claim in claims] == ["holds", "does not hold", "undecided"]
    nearly = Comparison("a", "", normal(0, 1.0), normal(0, 1.9, seed=1))
    assert judge_spread([nearly])[0].verdict == "holds"
    assert judge_spread([nearly] * 40)[0].verdict == "undecided"
