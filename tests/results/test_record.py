"""Seeds that diverged or stopped: their metrics are missing, and every statistic says so."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freqdyna.config import Config
from freqdyna.results.folder import decode, encode
from freqdyna.results.plot import curves_chart
from freqdyna.results.record import complete_seeds, mark_diverged
from freqdyna.results.result import Result
from freqdyna.results.tables import print_table
from freqdyna.sweeps import execute
from freqdyna.sweeps.search import print_trials, trial_at
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep

FAR, CLOSE = [-30.0, -30.0, -30.0], [-30.0, -20.0, -10.0]


def a_result(returns, diverged_at=None, provenance=None, **settings):
    """A training of 60 steps with these returns at its three evaluations."""
    config = Config.of(
        {
            "env": "GridWorld",
            "seeds": len(returns),
            "steps": 60,
            "eval_every": 20,
            "warmup_steps": 20,
            **settings,
        }
    )
    metrics = {
        "return": np.array(returns, np.float32),
        "episodes": np.tile(np.arange(3, dtype=np.int32), (len(returns), 1)),
        "diverged_at": np.full((len(returns), 3), -1, np.int32),
    }
    if diverged_at is not None:
        metrics["diverged_at"][:] = diverged_at
        metrics["return"][metrics["diverged_at"] >= 0] = np.nan
    return Result(
        config=config,
        provenance=provenance or {},
        seeds=np.arange(len(returns)),
        steps=np.array([20, 40, 60]),
        metrics=metrics,
        parameters=np.ones((len(returns), 5), np.float32),
        layer_sizes=(),
    )


def stored_and_read(result):
    return decode(encode(result), Result)


@pytest.fixture(scope="module")
def one_of_three():
    """Seed 1 diverged at step 25."""
    at = [[-1, -1, -1], [-1, 25, 25], [-1, -1, -1]]
    return stored_and_read(a_result([FAR, [-30.0, np.nan, np.nan], CLOSE], at))


def test_a_run_whose_seeds_all_diverged_shows_no_number(capsys):
    result = stored_and_read(a_result([FAR, FAR, FAR], 5))
    assert repr(result).endswith("last mean return none: all 3 seeds diverged)")
    assert np.isnan(result.mean_return()).all()
    print_table([(Path("there"), result)])
    printed = capsys.readouterr().out
    assert printed.count("all seeds") == 2
    assert "0 of 3 × 60" in printed
    assert "30" not in printed
    (panel,) = curves_chart([result]).panels
    assert panel.marks[0].label.endswith("(0 of 3 seeds; 3 diverged)")
    assert not len(panel.marks[0].x)
    result.plot()


def test_one_diverged_seed_is_left_out_and_counted(one_of_three, capsys):
    assert one_of_three.complete_seeds.kept.tolist() == [True, False, True]
    assert "2 of 3 seeds; 1 diverged, 60 steps, last mean return -20.0" in repr(one_of_three)
    print_table([(Path("there"), one_of_three)])
    printed = capsys.readouterr().out
    assert "2 of 3 × 60" in printed
    assert "1 diverged" in printed
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
    assert found.left_out == {"diverged": 2, "stopped": 1, "without a finite return": 1}
    assert found.text("seeds") == "1 of 5 seeds; 2 diverged, 1 stopped, 1 without a finite return"
    ended = {"1": {"step": 30, "reason": "step raised OSError"}}
    result = a_result([FAR, [-30.0, np.nan, np.nan]], provenance={"ended": ended})
    assert result.complete_seeds.text() == "1 of 2; 1 stopped"
    unexplained = replace(result, provenance={})
    assert unexplained.complete_seeds.text() == "1 of 2; 1 without a finite return"
    unknown = complete_seeds(np.arange(2), missing[:2], None)
    assert unknown.none_left == "all 2 seeds without a finite return"
    assert a_result([FAR]).complete_seeds.text("seeds") == "1 seed"


def test_merged_blocks_keep_the_reasons():
    ended = {"1": {"step": 30, "reason": "step raised OSError"}}
    first = a_result([FAR, [-30.0, np.nan, np.nan]], provenance={"ended": ended})
    second = replace(
        stored_and_read(a_result([FAR, FAR], [[-1] * 3, [9] * 3])), seeds=np.array([2, 3])
    )
    merged = execute.merged([second, first])
    assert merged.complete_seeds.text() == "2 of 4; 1 diverged, 1 stopped"


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


def test_the_objective_of_a_search_is_that_of_complete_seeds(one_of_three, tmp_path, capsys):
    sweep, storage = Sweep.parse(SWEEP), Storage(str(tmp_path))
    tried = []
    for rate, result in ((0.5, one_of_three), (0.9, a_result([FAR] * 3, 5))):
        units = sweep.blocks(sweep.config({"learner.learning_rate": rate}))
        for unit in units:
            execute.store(storage, unit, replace(result, config=unit.config))
        done = {unit.name for unit in units}
        tried.append(trial_at(storage, {"learner.learning_rate": rate}, units, "last", done))
    assert [trial.value for trial in tried] == [-20.0, None]
    assert tried[0].seeds.text() == "2 of 3; 1 diverged"
    print_trials(tried)
    printed = capsys.readouterr().out
    assert "2 of 3; 1 diverged" in printed
    assert "0 of 3; 3 diverged" in printed
