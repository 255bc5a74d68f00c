"""Verdicts on samples with known means and spreads, and under several interpretations."""

import numpy as np
from made_up import a_training

from freqdyna.results.statistics import permutation_p
from reproduction.claims import Claim, Statement
from reproduction.comparisons import (
    TOO_FEW,
    Comparison,
    judge,
    judge_each,
    judge_spread,
    summary,
    under_all,
)
from reproduction.f3 import _interaction
from reproduction.study import area, seeds_of, unlearned

S = Statement("what the paper claims")


def normal(mean, spread=1.0, seeds=30, seed=0):
    return np.random.default_rng(seed).normal(mean, spread, seeds)


def compared(*pair):
    return Comparison(S, "a", "above 0", *pair)


def test_verdicts_follow_the_means():
    pairs = ((2, 0), (0, 2), (0, 0.1))
    claims = judge([compared(normal(a), normal(b, seed=1)) for a, b in pairs])
    assert [claim.verdict for claim in claims] == ["holds", "does not hold", "undecided"]


def test_a_difference_that_one_test_would_see_is_not_seen_among_many():
    pair = normal(0.55), normal(0.0, seed=1)
    assert 0.005 < permutation_p(*pair) < 0.05
    assert judge([compared(*pair)])[0].verdict == "holds"
    assert {claim.verdict for claim in judge([compared(*pair)] * 20)} == {"undecided"}


def test_distances_are_compared():
    zero, one, three = (a_training(normal(mean, seed=mean)) for mean in (0, 1, 3))
    pairs = ((three, zero, one, zero), (one, zero, three, zero), (one, zero, one, zero))
    claims = [_interaction(S, "a", "", list(four), rows=1) for four in pairs]
    assert [claim.verdict for claim in claims] == ["holds", "does not hold", "undecided"]
    close = [a_training(normal(mean, seed=s)) for mean, s in ((0.65, 0), (0, 1), (0, 0), (0, 1))]
    assert _interaction(S, "a", "", close, rows=1).verdict == "holds"
    assert _interaction(S, "a", "", close, rows=40).verdict == "undecided"


def test_spread_is_compared():
    steady, wild = normal(0, 0.2), normal(0, 2.0, seed=1)
    pairs = ((steady, wild), (wild, steady), (normal(0), normal(5, seed=1)))
    claims = judge_spread([compared(*pair) for pair in pairs])
    assert [claim.verdict for claim in claims] == ["holds", "does not hold", "undecided"]
    nearly = compared(normal(0, 1.0), normal(0, 1.9, seed=1))
    assert judge_spread([nearly])[0].verdict == "holds"
    assert judge_spread([nearly] * 40)[0].verdict == "undecided"


def claims_of(verdicts):
    return [Claim(S, what, "above 0", f"{what} {v}", v, v, "comparison") for what, v in verdicts]


def test_a_claim_holds_only_if_it_holds_under_both():
    expected = {("holds", "holds"): "holds", ("undecided", "undecided"): "undecided"}
    expected |= dict.fromkeys((("holds", "undecided"), ("does not hold", "holds")), "depends")
    for pair, verdict in expected.items():
        groups = {"from step 1": [("a", pair[0])], "after warm-up": [("a", pair[1])]}
        (claim,) = under_all(judge_each(groups, claims_of))
        assert claim.verdict == verdict
        assert tuple(claim.by_interpretation.values()) == pair


def test_all_comparisons_are_judged_at_once():
    """So that the correction is for the number of all of them."""
    rows, calls = [("a", "holds"), ("b", "undecided")], []
    judge_each(
        {"one": rows, "other": rows}, lambda all_of: calls.append(all_of) or claims_of(all_of)
    )
    assert list(map(len, calls)) == [4]


def test_seeds_that_diverged_are_left_out():
    some, none = a_training([-10, -2000, -12, -14], diverged=[1]), a_training([-1], diverged=[0])
    np.testing.assert_allclose(area(some), [-10, -12, -14])
    assert unlearned(some).tolist() == [False] * 3
    assert seeds_of(some).tolist() == [0, 2, 3]
    assert summary({"ER": some}, -11.0)[1][-1] == "2"  # never reach it
    (claim,) = judge([Comparison.of(S, "", "", area, none, some)])
    assert (claim.ours, claim.verdict) == (TOO_FEW, "undecided")
