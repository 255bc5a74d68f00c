import numpy as np
import pytest

from reproduction import claims

S = claims.Statement("what the paper claims")
NOISE = np.random.default_rng(0).normal(size=50)


@pytest.mark.parametrize(
    ("mean", "negative", "verdict"),
    [
        (-1.0, True, "holds"),
        (1.0, True, "does not hold"),
        (0.0, True, "undecided"),
        (1.0, False, "holds"),
        (-1.0, False, "does not hold"),
    ],
)
def test_a_difference_is_judged_by_its_interval(mean, negative, verdict):
    differences = mean + NOISE - NOISE.mean()
    assert claims.difference(S, "", "", differences, negative).verdict == verdict


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((-2.0, -1.0), "holds"),
        ((2.0, 1.0), "does not hold"),
        ((0.0, -2.0), "undecided"),
        ((-2.0, 2.0), "undecided"),
    ],
)
def test_several_thresholds_must_agree(means, verdict):
    claim = claims.agreeing(S, "", "", [mean + NOISE - NOISE.mean() for mean in means], form="+.1f")
    assert claim.verdict == verdict
    assert [float(one) for one in claim.ours.split("; ")] == list(means)
    assert claim.interval.count("[") == 2


def test_a_share_is_judged_by_the_spread_of_samples():
    samples = np.random.default_rng(0).normal(50, 1, size=4000)
    assert claims.share(S, "", 51.9, samples).verdict == "holds"
    assert claims.share(S, "", 52.1, samples).verdict == "does not hold"
    assert claims.share(S, "", 48.0, samples).paper == "48.00%"


def test_accuracy_and_bounds():
    assert claims.accuracy(S, "", "", "", 1e-7, 1e-6).verdict == "holds"
    assert claims.accuracy(S, "", "", "", 1e-5, 1e-6).verdict == "does not hold"
    assert claims.bound(S, "", "", 1 - 1e-7, 1e-6).verdict == "holds"
    assert claims.bound(S, "", "", 0.99, 1e-6).verdict == "does not hold"


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((0.9,), "holds"),
        ((0.1,), "does not hold"),
        ((0.5,), "undecided"),
        ((0.1, 0.9), "undecided"),
        ((0.5, 0.9), "undecided"),
    ],
)
def test_a_ranking_needs_a_correlation_above_a_half_in_all_windows(means, verdict):
    correlations = [mean + 0.05 * (NOISE - NOISE.mean()) for mean in means]
    claim = claims.ranking(S, "", "", correlations)
    assert claim.verdict == verdict
    assert claim.ours == f"{means[0]:+.2f} to {means[-1]:+.2f} by window"


@pytest.mark.parametrize(
    ("ratios", "verdict", "growth"),
    [
        ([1.0, 2.0, 4.0], "does not hold", "p = 1.00"),
        ([1.0, 2.0, 3.0], "undecided", "p = 0.00"),
        ([1.0, 1.5, 1.75], "undecided", "p = -1.00"),
    ],
)
def test_what_grows_ever_faster_diverges(ratios, verdict, growth):
    claim = claims.divergence(S, "", "", np.array(ratios)[:, None] * np.ones(2), 8)
    assert claim.verdict == verdict
    assert growth in claim.ours
