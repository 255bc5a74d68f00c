"""Seeds that diverged or stopped: their metrics are missing, and every statistic says so."""

from dataclasses import replace
from pathlib import Path

import hand_made
import numpy as np
import pytest

from freqdyna.results.folder import decode, encode
from freqdyna.results.plot import curves_chart
from freqdyna.results.record import complete_seeds, mark_diverged
from freqdyna.results.result import Result
from freqdyna.results.tables import print_table
from freqdyna.sweeps import execute
from freqdyna.sweeps.search import trial_at
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep

FAR, CLOSE = [-30.0, -30.0, -30.0], [-30.0, -20.0, -10.0]
ENDED = {"ended": {"1": {"step": 30, "reason": "step raised OSError"}}}


def a_result(returns, diverged_at=-1):
    """A training of 60 steps with these returns at its three evaluations, stored and read."""
    made = hand_made.result(returns, every=20, warmup_steps=20)
    at = np.broadcast_to(np.array(diverged_at, np.int32), made.returns.shape)
    metrics = {"return": np.where(at >= 0, np.nan, made.returns), "diverged_at": at}
    return decode(encode(replace(made, metrics=metrics)), Result)


@pytest.fixture(scope="module")
def one_of_three():
    """Seed 1 diverged at step 25."""
    at = [[-1, -1, -1], [-1, 25, 25], [-1, -1, -1]]
    return a_result([FAR, FAR, CLOSE], at)


def test_a_run_whose_seeds_all_diverged_shows_no_number(capsys):
    result = a_result([FAR, FAR, FAR], 5)
    assert np.isnan(result.mean_return()).all()
    print_table([(Path("there"), result)])
    printed = capsys.readouterr().out
    assert "0 of 3" in printed
    assert "30" not in printed
    (panel,) = curves_chart([result]).panels
    assert not len(panel.marks[0].x)
    result.plot()


def test_one_diverged_seed_is_left_out_and_counted(one_of_three, capsys):
    assert one_of_three.complete_seeds.kept.tolist() == [True, False, True]
    print_table([(Path("there"), one_of_three)])
    assert "2 of 3" in capsys.readouterr().out
    (panel,) = curves_chart([one_of_three]).panels
    assert panel.marks[0].label.endswith("(2 of 3 seeds; 1 diverged)")
    assert panel.marks[0].seeds.tolist() == [0, 2]


def test_an_evaluation_checks_parameters_and_remembers():
    metrics = {
        "return": np.array([1.0, 2.0, 3.0, 4.0], np.float32),
        "diverged_at": np.array([-1, -1, 7, -1], np.int32),
    }
    parameters = np.ones((4, 2), np.float32)
    parameters[1, 0] = np.nan
    found = mark_diverged(metrics, 10, parameters, None)
    assert found["diverged_at"].tolist() == [-1, 10, 7, -1]
    np.testing.assert_array_equal(found["return"], [1, np.nan, np.nan, 4])
    # The loss becomes finite again, and the next loss that is not is at a later step.
    metrics["diverged_at"][:] = [-1, 12, -1, 15]
    found = mark_diverged(metrics, 20, np.ones((4, 2)), found["diverged_at"])
    assert found["diverged_at"].tolist() == [-1, 10, 7, 15]
    np.testing.assert_array_equal(found["return"], [1, np.nan, np.nan, np.nan])


def test_seeds_that_stopped_are_told_apart():
    missing = np.array([[1.0], [np.nan], [np.nan], [np.inf], [np.nan]])
    at = np.array([[-1], [5], [-1], [-1], [6]])
    found = complete_seeds(np.arange(3, 8), missing, at, stopped=[5, 7])
    assert found.left_out == {"diverged": 2, "stopped": 1, "not finite": 1}
    assert complete_seeds(np.arange(2), missing[:2], None).kept.tolist() == [True, False]


def test_merged_blocks_keep_the_reasons():
    first = replace(a_result([FAR, [-30.0, np.nan, np.nan]]), provenance=ENDED)
    assert first.complete_seeds.left_out == {"stopped": 1}
    second = replace(a_result([FAR, FAR], [[-1] * 3, [9] * 3]), seeds=np.array([2, 3]))
    merged = execute.merged([second, first])
    assert merged.complete_seeds.left_out == {"diverged": 1, "stopped": 1}


SWEEP = """
[settings]
env = "GridWorld"
steps = 60
eval_every = 20
warmup_steps = 20
[seeds]
number = 3
block = 3
[search]
trials = 1
[search.space]
learner.learning_rate = {low = 0.001, high = 1.0}
"""


def test_the_objective_of_a_search_is_that_of_complete_seeds(one_of_three, tmp_path):
    sweep, storage = Sweep.parse(SWEEP), Storage(str(tmp_path))
    tried = []
    for rate, result in ((0.5, one_of_three), (0.9, a_result([FAR] * 3, 5))):
        (unit,) = sweep.blocks(sweep.config({"learner.learning_rate": rate}))
        execute.store(storage, unit, replace(result, config=unit.config))
        settings = {"learner.learning_rate": rate}
        tried.append(trial_at(storage, settings, [unit], "last", {unit.name}))
    assert [trial.value for trial in tried] == [-20.0, None]
    assert tried[0].seeds.left_out == {"diverged": 1}
