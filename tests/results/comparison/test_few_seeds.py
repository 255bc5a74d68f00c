import pytest

from freqdyna.results.comparison.few_seeds import detectable_difference, few_seeds_notes
from freqdyna.results.comparison.statistics import LEVEL


def test_the_difference_that_is_found_is_that_of_tables_of_power():
    # Cohen (1988), table 2.4.1: 80% power at the two-sided 5% level.
    assert detectable_difference(26, 26, LEVEL) == pytest.approx(0.8, abs=0.01)
    assert detectable_difference(64, 64, LEVEL) == pytest.approx(0.5, abs=0.01)


def test_three_seeds_can_show_nothing():
    notes = " ".join(few_seeds_notes([(3, 3)], 1))
    assert "An interval from 3 seeds is only their range" in notes
    assert "With 3 and 3 seeds, no difference can be shown" in notes
    assert "is 0.1, above 0.05" in notes


def test_five_seeds_can_show_large_differences():
    (narrow, shown) = few_seeds_notes([(5, 5), (5, 5), (30, 30)], 1)
    assert "too narrow" in narrow
    assert "With 5 and 5 seeds, a difference is shown in 80% of such studies only if" in shown
    assert "2.0 standard deviations" in shown


def test_many_comparisons_need_more_seeds():
    # 2 / 252 for one comparison; below 0.05 for up to 6 of them.
    assert "a difference is shown among 6 comparisons in 80%" in few_seeds_notes([(5, 5)], 6)[-1]
    assert "a difference alone cannot be shown among 7" in few_seeds_notes([(5, 5)], 7)[-1]
    # Of 3 seeds, Holm's correction multiplies the greatest p by 1.
    assert "is 0.1, above 0.05" in few_seeds_notes([(3, 3)], 7)[-1]


def test_one_seed_has_no_interval_and_ten_need_no_explanation():
    assert few_seeds_notes([(1, 30)], 1)[0].startswith("One seed has no interval")
    assert few_seeds_notes([(10, 10), (0, 10)], 1) == []
    assert few_seeds_notes([(1, 1)], 1)[-1].startswith("With 1 seed each, no difference")
