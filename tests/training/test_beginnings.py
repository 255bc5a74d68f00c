"""Where a run begins: at another run's parameters, or at its last checkpoint with more steps."""

import shutil
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from test_runs import assert_same_outcome

import freqdyna
from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents.algorithms import build, completed
from freqdyna.cli.main import main
from freqdyna.envs import DynaMaze
from freqdyna.results.imports import import_curves
from freqdyna.training import checkpoint
from freqdyna.training.api import _extended
from freqdyna.training.checkpoint import initial_parameters
from freqdyna.training.run import Run

SHORT = {
    "env": "GridWorld",
    "algorithm": "prioritized-er",
    "seeds": 1,
    "steps": 15,
    "planning_steps": 1,
    "learner.hidden": (4,),
    "batch_size": 4,
    "warmup_steps": 5,
    "eval_every": 10,
    "env.episode_limit": 8,
    "snapshot_steps": (12,),
    "replay.capacity": 300,
    "progress": False,
}
"""A longer run is not evaluated at its last step."""


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extended") / "short"
    return freqdyna.train(out=folder, **SHORT), folder


class Killed(BaseException):
    """What a signal does that cannot be caught."""


def test_an_extended_run_equals_a_longer_one_to_the_bit(short, tmp_path, monkeypatch, capsys):
    result, folder = short
    assert result.steps.tolist() == [10, 15]
    freqdyna.train(out=tmp_path / "whole", **SHORT | {"steps": 34})
    shutil.copytree(folder, tmp_path / "run")
    with monkeypatch.context() as patched:  # killed when its settings are written, but no results
        patched.setattr(Run, "_save", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            freqdyna.resume(tmp_path / "run", steps=30, progress=False)
    with pytest.raises(FreqdynaError, match="write it again with: freqdyna resume"):
        freqdyna.load(tmp_path / "run")
    main(["resume", str(tmp_path / "run"), "--steps", "34"])
    assert "extended from 30 to 34 steps" in capsys.readouterr().out
    extended = freqdyna.load(tmp_path / "run")
    assert extended.steps.tolist() == [10, 20, 30, 34]
    assert_same_outcome(tmp_path / "run", tmp_path / "whole")
    assert extended.config == freqdyna.load(tmp_path / "whole").config


def test_resuming_a_finished_run_changes_nothing(short):
    result, folder = short
    again = freqdyna.resume(folder, progress=False, steps=15)
    assert again.steps.tolist() == [10, 15]
    for name, values in result.metrics.items():
        np.testing.assert_array_equal(again.metrics[name], values)
    np.testing.assert_array_equal(again.parameters, result.parameters)


def test_a_run_is_not_shortened_and_no_schedule_is_stretched(short):
    _, folder = short
    with pytest.raises(FreqdynaError, match="steps is 14; it must be 15 or greater"):
        freqdyna.resume(folder, steps=14, progress=False)
    scheduled = Config.of({"steps": 100, "exploration_fraction": 0.1})
    with pytest.raises(FreqdynaError, match=r"exploration_fraction is 0\.1: the schedule"):
        _extended(scheduled, 200)
    assert _extended(scheduled, 100) == scheduled


SETTINGS = SHORT | {
    "algorithm": "er",
    "seeds": 2,
    "steps": 6,
    "warmup_steps": 6,  # nothing is learned
    "eval_every": 6,
    "snapshot_steps": (),
    "devices": 1,
}


@pytest.fixture(scope="module")
def source():
    return freqdyna.train(**SETTINGS)


def test_a_run_begins_with_the_parameters_of_another(source, tmp_path):
    other = replace(source, parameters=source.parameters + 1)
    folder = tmp_path / "run"
    begun = freqdyna.train(**SETTINGS, init_from=other, out=folder)
    np.testing.assert_allclose(begun.parameters, other.parameters, rtol=1e-5, atol=1e-6)
    assert begun.provenance["init_from"]["algorithm"] == "er"
    # If it is killed before its first checkpoint, it begins with them as well.
    last, first = checkpoint.checkpoints(folder)
    assert first.name == "checkpoint-0000000000.npz"
    last.unlink()
    again = freqdyna.resume(folder, progress=False)
    np.testing.assert_array_equal(again.parameters, other.parameters)
    assert again.provenance["init_from"] == begun.provenance["init_from"]
    for path in checkpoint.checkpoints(folder):
        path.write_bytes(b"damaged")
    with pytest.raises(FreqdynaError, match="parameters of another one, and no checkpoint can be"):
        freqdyna.resume(folder, progress=False)


def test_seeds_begin_with_their_own_parameters_or_with_the_only_ones(source):
    def rows(config, of=source):
        return initial_parameters(of, config, build(config, envs.make(config.env)))

    base = Config.of({"env": "GridWorld", "seeds": 1, "first_seed": 1, "learner.hidden": (4,)})
    config = completed(base)
    np.testing.assert_array_equal(rows(config), source.parameters[1:])
    one = replace(source, seeds=np.array([9]), parameters=source.parameters[:1])
    three = replace(config, seeds=3)
    np.testing.assert_array_equal(rows(three, one), np.repeat(source.parameters[:1], 3, axis=0))
    for wrong in (
        three,
        config.changed({"learner.activation": "relu"}),
        config.changed({"learner.hidden": (5,)}),
        completed(Config.of({"env": "CartPole-v1", "learner.hidden": (4,)})),
    ):
        with pytest.raises(FreqdynaError, match="init_from"):
            rows(wrong)
    infinite = replace(source, parameters=np.full_like(source.parameters, np.inf))
    with pytest.raises(FreqdynaError, match="init_from has a seed that diverged"):
        rows(config, infinite)


def test_imported_curves_have_no_parameters_to_begin_with(tmp_path):
    path = tmp_path / "ppo.csv"
    path.write_text("seed,step,return\n0,10,1\n")
    config = completed(Config(env="DynaMaze", algorithm="tabular-dyna-q"))
    with pytest.raises(FreqdynaError, match=r"imported from .*: it has learning curves, but no"):
        initial_parameters(import_curves(path), config, build(config, DynaMaze()))
