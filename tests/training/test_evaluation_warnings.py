import numpy as np

from freqdyna.results.complete_seeds import mark_diverged
from freqdyna.training.evaluation_warnings import new_warnings

SEEDS = np.array([3, 4, 5])


def evaluation(diverged_at=(-1, -1, -1), **counts):
    return {"diverged_at": np.array(diverged_at)} | {k: np.array(v) for k, v in counts.items()}


def test_each_seed_is_reported_once_when_its_model_is_not_finite_for_the_first_time():
    curves, told = [], []
    for counts in ([0, 0, 0], [0, 1200, 0], [7, 80, np.nan], [9, 0, 0], [1, 1, 2]):
        curves.append(evaluation(model_non_finite=counts))
        told.append(new_warnings(SEEDS, curves))
    for messages, number, seed in ((told[1], "1,200", 4), (told[2], "7", 3), (told[4], "2", 5)):
        assert messages == [
            f"the model returned {number} transitions that are not finite, which are not learned "
            f"from (seed {seed}); the metric model_non_finite counts them at each evaluation"
        ]
    assert told[0] == told[3] == []


def test_a_model_that_is_not_finite_is_reported_once_although_the_seed_diverged_before():
    curves, told, before = [], [], None
    found = [([-1] * 3, [0, 0, 0]), ([-1, 25, -1], [0, 0, 0]), ([-1, 25, 55], [0, 70, 80])]
    for step, (at, counts) in zip((20, 40, 60, 80), [*found, found[-1]], strict=True):
        measured = evaluation(at, model_non_finite=np.array(counts, float), loss=np.ones(3))
        curves.append(mark_diverged(measured, step, np.ones((3, 1)), before))
        told.append(new_warnings(SEEDS, curves))
        before = curves[-1]["diverged_at"]
    assert [len(messages) for messages in told] == [0, 1, 2, 0]
    assert told[1][0].startswith("seed 4 diverged at step 25")
    assert told[2][1].startswith("the model returned 150 transitions that are not finite")
    assert "(seeds 4, 5)" in told[2][1]
    np.testing.assert_array_equal(curves[-1]["loss"], [1, np.nan, np.nan])


def test_each_cause_is_reported_and_seeds_of_one_evaluation_together():
    before = evaluation(search_outside=[1, 0, 0])
    now = evaluation([-1, 60, -1], search_outside=[5, 2, 3], search_non_finite=[1, 0, 0])
    diverged, outside, non_finite = new_warnings(SEEDS, [before, now])
    assert diverged.startswith("seed 4 diverged at step 60: ")
    assert outside.startswith("the search-control proposed 5 states outside the state space")
    assert "(seeds 4, 5)" in outside
    assert "(seed 3)" in non_finite
    assert new_warnings(SEEDS, [before, now, now]) == []
