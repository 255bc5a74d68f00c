"""Comparisons of hand-made curves with known answers."""

from dataclasses import replace

import numpy as np
import pytest
from hand_made import result

from freqdyna import FreqdynaError
from freqdyna.results.compare import compare_runs
from freqdyna.results.tables import run_rows


def of_scores(scores, evaluations=5, **settings):
    """A run whose seeds have constant curves."""
    return result(np.repeat(np.array(scores)[:, None], evaluations, axis=1), **settings)


def test_statistics_of_a_pair_by_hand():
    low, high = of_scores([1.0, 2.0, 3.0]), of_scores([4.0, 5.0, 6.0])
    comparison = compare_runs([low, high], ["low", "high"])
    (pair,) = comparison.pairs
    assert (pair.first.label, pair.second.label) == ("high", "low")
    assert pair.mean_difference.value == 3.0
    assert pair.iqm_difference.value == 3.0  # of three seeds, nothing is trimmed
    assert pair.probability_of_improvement.value == 1.0
    assert pair.p == pytest.approx(0.1)
    assert pair.verdict == "undecided"
    # An interval from three seeds is their range.
    assert comparison.environments[0].runs[0].mean.interval == (1.0, 3.0)


def test_no_interval_is_shown_where_resampling_has_no_spread():
    equal, other = of_scores([1.0, 1.0, 1.0]), of_scores([2.0, 2.0, 2.0])
    comparison = compare_runs([equal, other], ["a", "b"])
    (pair,) = comparison.pairs
    assert (pair.mean_difference.value, pair.probability_of_improvement.value) == (1.0, 1.0)
    for estimate in (pair.mean_difference, pair.iqm_difference, pair.probability_of_improvement):
        assert estimate.interval is None
    overlapping = compare_runs([of_scores([1.0, 3.0]), of_scores([2.0, 4.0])], ["a", "b"])
    assert None not in [pair.probability_of_improvement.interval for pair in overlapping.pairs]


def test_p_values_of_all_environments_are_corrected_together():
    low, high = np.arange(6.0), 100 + np.arange(6.0)
    names = ("GridWorld", "MazeGridWorld")
    runs = [of_scores(scores, env=env) for env in names for scores in (low, high)]
    first, second = compare_runs(runs, ["low", "high"] * 2).pairs
    assert first.p == pytest.approx(2 / 924)
    assert first.corrected_p == pytest.approx(4 / 924)
    assert second.corrected_p == pytest.approx(4 / 924)
    assert (first.verdict, second.verdict) == ("higher", "higher")
    (alone,) = compare_runs(runs[:2][::-1], ["high", "low"]).pairs
    assert alone.corrected_p == pytest.approx(2 / 924)
    assert alone.verdict == "lower"


def test_the_mean_is_the_return_after_the_warm_up_of_every_table():
    returns = np.random.default_rng(0).normal(size=(4, 9))
    runs = [result(returns, warmup_steps=30), result(returns + 1, warmup_steps=30)]
    (environment,) = compare_runs(runs, ["a", "b"]).environments
    assert environment.steps.tolist() == [40, 50, 60, 70, 80, 90]
    np.testing.assert_allclose(environment.runs[0].scores, returns[:, 3:].mean(axis=1))
    np.testing.assert_allclose(environment.runs[0].scores, runs[0].mean_return())
    (environment,) = compare_runs(runs, ["a", "b"], measure="final").environments
    np.testing.assert_allclose(environment.runs[0].scores, returns[:, -1])


def test_no_evaluation_of_the_warm_up_counts_for_curves_with_other_steps():
    fine = result([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 2, every=10, warmup_steps=20)  # 10 to 60
    coarse = result([[0.0, 20.0]] * 2, every=25, warmup_steps=20)  # 25 and 50
    (environment,) = compare_runs([fine, coarse], ["fine", "coarse"]).environments
    assert environment.steps.tolist() == [50]  # at 25, the latest one of the first is of step 20


def test_curves_with_other_steps_count_with_their_latest_evaluation():
    fine = result([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 2, every=10)  # steps 10 to 60
    coarse = result([[10.0, 20.0, 30.0]] * 2, every=25)  # steps 25, 50 and 75
    comparison = compare_runs([fine, coarse], ["fine", "coarse"])
    (environment,) = comparison.environments
    assert environment.steps.tolist() == [25, 50]
    assert environment.runs[0].returns.tolist() == [[2.0, 5.0]] * 2
    assert environment.runs[1].returns.tolist() == [[10.0, 20.0]] * 2
    assert not environment.are_evaluations
    assert compare_runs([fine, fine], ["a", "b"]).environments[0].are_evaluations


def test_a_run_that_goes_on_is_named():
    short, long = (result(np.ones((2, length)), every=10) for length in (3, 5))
    notes = compare_runs([short, long], ["short", "long"]).notes
    assert [name for name in ("short", "long") if any(repr(name) in note for note in notes)] == [
        "long"
    ]


def test_steps_to_a_threshold_use_all_evaluations():
    curve = result([[0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 1.0], [5.0, 5.0, 5.0, 5.0]])
    other = result([[0.0, 0.0, 0.0, 0.0]] * 3)
    (environment,) = compare_runs([curve, other], ["a", "b"], threshold=0.5).environments
    assert environment.runs[0].steps_to_threshold.tolist() == [20.0, 40.0, 10.0]
    assert np.isinf(environment.runs[1].steps_to_threshold).all()
    assert [row[-1] for row in run_rows(environment)[1:]] == ["20 (3 of 3)", "reached by 0 of 3"]
    (environment,) = compare_runs([curve, other], ["a", "b"], threshold=4).environments
    assert run_rows(environment)[1][-1] == "reached by 1 of 3"
    (environment,) = compare_runs([curve, other], ["a", "b"]).environments
    assert environment.threshold == 1.5  # means of the runs are between 0 and 3


def test_a_threshold_is_one_that_no_untrained_policy_meets():
    # Two evaluations before learning begins at step 20, then a fall, then a rise above both.
    fall = result([[-20.0, -30.0, -90.0, -10.0], [-20.0, -30.0, -90.0, -15.0]], warmup_steps=20)
    flat = result([[-40.0, -40.0, -80.0, -80.0]] * 2, warmup_steps=20)
    (environment,) = compare_runs([fall, flat], ["fall", "flat"]).environments
    assert environment.untrained == -25.0
    assert environment.threshold == (-25.0 - 12.5) / 2
    assert environment.runs[0].steps_to_threshold.tolist() == [40.0, 40.0]
    low = compare_runs([fall, flat], ["fall", "flat"], threshold=-50).environments[0]
    assert low.threshold_is_met_untrained
    assert run_rows(low)[1][-1] == "met untrained"
    (never,) = compare_runs([flat, flat], ["a", "b"]).environments
    assert np.isnan(never.threshold)
    assert run_rows(never)[1][-1] == "–"


def test_runs_can_be_compared_over_seconds():
    def timed(returns, seconds):
        run = result(returns)
        times = np.tile(np.array(seconds, np.float64), (len(run.seeds), 1))
        return replace(run, metrics=run.metrics | {"seconds": times})

    quick = timed([[1.0, 2.0, 3.0, 4.0]] * 2, [1, 2, 3, 4])
    slow = timed([[5.0, 6.0]] * 2, [2, 4])
    (environment,) = compare_runs([quick, slow], ["quick", "slow"], x="seconds").environments
    assert environment.steps.tolist() == [2.0, 4.0]
    assert [run.scores.tolist() for run in environment.runs] == [[3.0, 3.0], [5.5, 5.5]]
    assert environment.runs[0].steps_to_threshold.tolist() == [np.inf] * 2
    assert run_rows(environment)[0][-1] == "seconds to 4.00"
    with pytest.raises(FreqdynaError, match="hours"):
        compare_runs([quick, slow], ["a", "b"], x="hours")


def test_a_baseline_is_compared_with_all_others():
    runs = [of_scores([i, i + 1.0]) for i in range(4)]
    names = ["a", "b", "c", "d"]
    pairs = compare_runs(runs, names, baseline="c").pairs
    assert [pair.first.label + pair.second.label for pair in pairs] == ["ac", "bc", "dc"]
    by_number = compare_runs(runs, names, baseline="3").pairs
    assert [pair.first.label for pair in by_number] == ["a", "b", "d"]
    assert [pair.second.label for pair in compare_runs(runs, names).pairs] == ["a"] * 3
    every = compare_runs(runs, names, all_pairs=True).pairs
    assert len(every) == 6
    # The correction is for the comparisons that are made.
    assert compare_runs(runs[:2], names[:2]).pairs[0].corrected_p <= every[0].corrected_p


def test_seeds_that_diverged_are_left_out_and_named():
    returns = np.array([[1.0, 2.0], [1.0, np.nan], [3.0, 4.0]])
    comparison = compare_runs([result(returns), result(returns * 0)], ["a", "b"])
    first = comparison.environments[0].runs[0]
    assert first.scores.tolist() == [1.5, 3.5]


def test_a_run_without_any_seed_left_is_undecided():
    lost = result(np.full((2, 3), np.nan))
    comparison = compare_runs([lost, of_scores([1.0, 2.0], 3)], ["lost", "found"])
    (pair,) = comparison.pairs
    assert pair.verdict == "undecided"
    assert np.isnan(pair.mean_difference.value)
    assert str(comparison)
    comparison.plot()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measure": "median"}, "measure"),
        ({"baseline": "c"}, "baseline"),
        ({"labels": ["a", "a"]}, "labels"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(FreqdynaError, match=message):
        compare_runs([of_scores([1.0, 2.0])] * 2, **{"labels": ["a", "b"]} | settings)


def test_runs_that_cannot_be_compared_are_refused():
    early, late = of_scores([1.0, 2.0]), of_scores([1.0, 2.0])
    late = replace(late, steps=late.steps + 100)
    with pytest.raises(FreqdynaError):
        compare_runs([late, early], ["late", "early"])
    others = [early, of_scores([1.0], env="MazeGridWorld")]
    with pytest.raises(FreqdynaError):
        compare_runs(others, ["a", "b"])
