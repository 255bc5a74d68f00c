"""Verdicts of claims on samples whose means are known, and the overview of verdicts."""

import numpy as np

from reproduction import claims, pages, run

S = claims.Statement("what the paper claims")
NOISE = np.random.default_rng(0).normal(size=50)
NOISE -= NOISE.mean()


def test_a_difference_is_judged_by_its_interval():
    expected = {-1.0: "holds", 1.0: "does not hold", 0.0: "undecided"}
    for mean, verdict in expected.items():
        assert claims.difference(S, "", "", mean + NOISE).verdict == verdict
        assert claims.difference(S, "", "", -mean + NOISE, negative=False).verdict == verdict


def test_several_thresholds_must_agree():
    expected = {(-2.0, -1.0): "holds", (2.0, 1.0): "does not hold"}
    expected |= {(0.0, -2.0): "undecided", (-2.0, 2.0): "undecided"}
    for means, verdict in expected.items():
        claim = claims.agreeing(S, "", "", [mean + NOISE for mean in means], form="+.1f")
        assert claim.verdict == verdict
        assert [float(one) for one in claim.ours.split("; ")] == list(means)


def test_a_share_is_judged_by_the_spread_of_samples():
    samples = np.random.default_rng(0).normal(50, 1, size=4000)
    assert claims.share(S, "", 51.9, samples).verdict == "holds"
    assert claims.share(S, "", 52.1, samples).verdict == "does not hold"


def test_accuracy_and_bounds():
    assert claims.accuracy(S, "", "", "", 1e-7, 1e-6).verdict == "holds"
    assert claims.accuracy(S, "", "", "", 1e-5, 1e-6).verdict == "does not hold"
    assert claims.bound(S, "", "", 1 - 1e-7, 1e-6).verdict == "holds"
    assert claims.bound(S, "", "", 0.99, 1e-6).verdict == "does not hold"


def test_a_ranking_needs_a_correlation_above_a_half_in_all_windows():
    expected = {(0.9,): "holds", (0.1,): "does not hold", (0.5,): "undecided"}
    expected |= {(0.1, 0.9): "undecided", (0.5, 0.9): "undecided"}
    for means, verdict in expected.items():
        correlations = [mean + 0.05 * NOISE for mean in means]
        assert claims.ranking(S, "", "", correlations).verdict == verdict


def test_what_grows_ever_faster_diverges():
    for ratios, verdict in (([1, 2, 4], "does not hold"), ([1, 2, 3], "undecided")):
        both = np.array(ratios)[:, None] * np.ones(2)
        assert claims.divergence(S, "", "", both, 8).verdict == verdict


def claim_of(verdict, statement=S, **by_interpretation):
    return claims.Claim(statement, "", "above 0", "", "", verdict, "", "", by_interpretation)


def test_the_overview_sums_up_the_claims_of_one_statement():
    holds, undecided = claim_of("holds"), claim_of("undecided")
    other = claim_of("does not hold", claims.Statement("something else"))
    unsupported = claim_of("depends", first="undecided", second="does not hold")
    disputed = claim_of("depends", first="holds", second="does not hold")
    for several, verdicts in (
        ([holds, holds], ["holds"]),
        ([holds, undecided], ["mixed"]),
        ([holds, other], ["holds", "does not hold"]),
        ([unsupported], ["not supported"]),
        ([disputed], ["depends"]),
    ):
        assert [row.verdict for row in pages.rows_of(run.find("F3"), several)] == verdicts
