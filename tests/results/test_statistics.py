"""Statistics over seeds, against SciPy, closed forms and known error rates."""

import numpy as np
import pytest
from scipy import stats

from freqdyna.results.statistics import (
    bootstrap_interval,
    first_step_above,
    holm,
    improvement_interval,
    iqm,
    permutation_p,
    probability_of_improvement,
    smallest_p,
    stratified_interval,
)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_the_interquartile_mean_leaves_a_quarter_out_on_each_side():
    assert iqm(np.array([-1000.0, 1.0, 3.0, 1000.0])) == 2.0


def test_intervals_cover_as_often_as_they_say():
    covered = 0
    for seed in range(200):
        low, high = stratified_interval(
            lambda v: v.mean(-1), np.random.default_rng(seed).normal(1.0, size=30)
        )
        covered += low <= 1.0 <= high
    # 95% nominal, a little less for 30 seeds; fewer than 176 of 200 at 93% has p < 0.01.
    assert covered >= 176


@pytest.mark.parametrize("seeds", [(3, 4), (30, 100)])
def test_the_permutation_test_is_that_of_scipy(seeds):
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.5):
        pair = [rng.normal(size=seeds[0]), rng.normal(shift, size=seeds[1])]
        found = stats.permutation_test(
            pair,
            lambda a, b, axis: a.mean(axis) - b.mean(axis),
            vectorized=True,
            n_resamples=9999,
            rng=np.random.default_rng(0),
        )
        # Both draw 9,999 permutations, but not necessarily the same ones.
        assert abs(permutation_p(*pair) - found.pvalue) < 0.04


def test_a_permutation_test_by_hand():
    # Of the 20 ways to choose 3 of the 6 numbers, 1 has a sum of at least 15, and 1 of at most 6.
    apart = np.array([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0])
    assert permutation_p(*apart) == pytest.approx(2 / 20)
    assert permutation_p(*apart[::-1]) == pytest.approx(2 / 20)
    # 4 of the 20 have a sum of at least 13: 13, 13, 14 and 15.
    mixed = np.array([2.0, 5.0, 6.0]), np.array([1.0, 3.0, 4.0])
    assert permutation_p(*mixed) == pytest.approx(2 * 4 / 20)


@pytest.mark.parametrize("seeds", [(1, 50), (2, 3), (3, 3), (30, 30)])
def test_the_smallest_p_is_that_of_samples_without_overlap(seeds):
    apart = [shift + np.arange(float(n)) for shift, n in zip((0, 1000), seeds, strict=True)]
    assert permutation_p(*apart) == pytest.approx(smallest_p(*seeds))


def test_the_probability_of_improvement_by_hand():
    # Of 6 pairs, 3 are above, 1 is equal.
    first, second = np.array([1.0, 3.0]), np.array([0.0, 2.0, 3.0])
    assert probability_of_improvement(first, second) == pytest.approx(3.5 / 6)
    low, high = improvement_interval(first, second)
    assert 0 <= low < 3.5 / 6 < high <= 1
    assert improvement_interval(first + 10, second) == pytest.approx((1.0, 1.0))


def test_the_first_step_above_a_threshold():
    returns = np.array([[0.0, 5.0, 1.0], [5.0, 6.0, 7.0], [0.0, 0.0, 5.5]])
    first = first_step_above(np.array([10, 20, 30]), returns, 5.0)
    assert first.tolist() == [np.inf, 20.0, 30.0]


def test_the_interval_covers_the_true_mean_as_often_as_it_says():
    generator = np.random.default_rng(0)
    samples = generator.normal(size=(30, 2000))  # 2000 studies of 30 seeds, true mean 0
    low, high = bootstrap_interval(samples)
    coverage = ((low <= 0) & (high >= 0)).mean()
    # The percentile bootstrap is known to cover a little less than its level: about 0.94 here.
    assert 0.92 < coverage < 0.96
