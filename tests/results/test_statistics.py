import numpy as np

from freqdyna.results.statistics import bootstrap_interval


def test_the_interval_covers_the_true_mean_as_often_as_it_says():
    generator = np.random.default_rng(0)
    samples = generator.normal(size=(30, 2000))  # 2000 studies of 30 seeds, true mean 0
    low, high = bootstrap_interval(samples)
    coverage = ((low <= 0) & (high >= 0)).mean()
    # The percentile bootstrap is known to cover a little less than its level: about 0.94 here.
    assert 0.92 < coverage < 0.96


def test_equal_seeds_have_an_interval_of_no_width():
    low, high = bootstrap_interval(np.full((5, 3), 2.0))
    np.testing.assert_allclose(low, 2.0)
    np.testing.assert_allclose(high, 2.0)
