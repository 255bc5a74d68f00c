"""A run that is extended equals one with that number of steps from the start."""

import shutil

import numpy as np
import pytest
from test_runs import assert_same_outcome

import freqdyna
from freqdyna import Config, FreqdynaError
from freqdyna.cli.main import main
from freqdyna.training.extension import extended_config
from freqdyna.training.run import Run

SETTINGS = {
    "env": "GridWorld",
    "algorithm": "prioritized-er",
    "seeds": 1,
    "steps": 15,
    "planning_steps": 1,
    "hidden": (4,),
    "batch_size": 4,
    "warmup_steps": 5,
    "eval_every": 10,
    "episode_limit": 8,
    "snapshot_steps": (12,),
    "progress": False,
}
"""Its last evaluation, at step 15, is not one of a longer run; nor is its buffer of 15 rows."""


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extended") / "short"
    return freqdyna.train(out=folder, **SETTINGS), folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "whole"
    freqdyna.train(out=folder, **SETTINGS | {"steps": 34})
    return folder


def test_an_extended_run_equals_a_longer_one_to_the_bit(short, whole, tmp_path, capsys):
    result, folder = short
    assert result.steps.tolist() == [10, 15]
    shutil.copytree(folder, tmp_path / "run")
    main(["resume", str(tmp_path / "run"), "--steps", "34"])
    assert "extended from 15 to 34 steps" in capsys.readouterr().out
    extended = freqdyna.load(tmp_path / "run")
    assert extended.steps.tolist() == [10, 20, 30, 34]
    assert_same_outcome(tmp_path / "run", whole)
    assert extended.config == freqdyna.load(whole).config
    # Twice is as good as once, and the same number of steps changes nothing.
    again = freqdyna.resume(tmp_path / "run", steps=34, progress=False)
    np.testing.assert_array_equal(again.returns, extended.returns)


def test_a_run_is_not_shortened_and_no_schedule_is_stretched(short, tmp_path):
    _, folder = short
    with pytest.raises(FreqdynaError, match="steps is 14; it must be 15 or greater"):
        freqdyna.resume(folder, steps=14, progress=False)
    with pytest.raises(FreqdynaError, match="steps is 0; it must be an integer, 1 or greater"):
        freqdyna.resume(folder, steps=0, progress=False)
    scheduled = Config(steps=100, exploration_fraction=0.1)
    with pytest.raises(FreqdynaError, match=r"exploration_fraction is 0\.1: the schedule"):
        extended_config(scheduled, 200)
    assert extended_config(scheduled, 100) == scheduled


class Killed(BaseException):
    """What happens instead of a kill."""


def test_a_run_that_is_killed_as_it_is_extended_goes_on(short, whole, tmp_path, monkeypatch):
    _, folder = short
    shutil.copytree(folder, tmp_path / "run")

    def killed(*arguments):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Run, "execute", killed)
        with pytest.raises(Killed):
            freqdyna.resume(tmp_path / "run", steps=34, progress=False)
    # The evaluation at step 15 is not one of the longer run.
    with pytest.raises(FreqdynaError, match="write it again with: freqdyna resume"):
        freqdyna.load(tmp_path / "run")
    freqdyna.resume(tmp_path / "run", progress=False)
    assert_same_outcome(tmp_path / "run", whole)
