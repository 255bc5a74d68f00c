"""Where a run begins: at another run's parameters, or at its last checkpoint with more steps."""

import shutil
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
import small
from test_runs import assert_same_outcome

import freqdyna
from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents.algorithms import build, completed
from freqdyna.training import checkpoint
from freqdyna.training.checkpoint import initial_parameters
from freqdyna.training.run import Run

SHORT = small.SMALL | {"steps": 30, "snapshot_steps": (25,), "progress": False}
"""A longer run is not evaluated at its last step."""


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extended") / "short"
    return freqdyna.train(out=folder, **SHORT), folder


class Killed(BaseException):
    """What a signal does that cannot be caught."""


def test_an_extended_run_equals_a_longer_one_to_the_bit(short, tmp_path, monkeypatch):
    result, folder = short
    assert result.steps.tolist() == [20, 30]
    freqdyna.train(out=tmp_path / "whole", **SHORT | {"steps": 70})
    shutil.copytree(folder, tmp_path / "run")
    with monkeypatch.context() as patched:  # killed when its settings are written, but no results
        patched.setattr(Run, "_save", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            freqdyna.resume(tmp_path / "run", steps=50, progress=False)
    with pytest.raises(FreqdynaError):
        freqdyna.load(tmp_path / "run")
    extended = freqdyna.resume(tmp_path / "run", steps=70, progress=False)
    assert extended.steps.tolist() == [20, 40, 60, 70]
    assert_same_outcome(tmp_path / "run", tmp_path / "whole")
    assert extended.config == freqdyna.load(tmp_path / "whole").config


def test_resuming_a_finished_run_changes_nothing_and_does_not_shorten_it(short):
    result, folder = short
    again = freqdyna.resume(folder, progress=False, steps=30)
    assert again.steps.tolist() == [20, 30]
    for name, values in result.metrics.items():
        np.testing.assert_array_equal(again.metrics[name], values)
    np.testing.assert_array_equal(again.parameters, result.parameters)
    with pytest.raises(FreqdynaError, match="steps"):
        freqdyna.resume(folder, steps=29, progress=False)


def test_a_run_begins_with_the_parameters_of_another(short, tmp_path):
    result, _ = short
    other = replace(result, parameters=result.parameters + 1)
    folder = tmp_path / "run"
    nothing_learned = SHORT | {"steps": 10, "snapshot_steps": ()}
    begun = freqdyna.train(**nothing_learned, init_from=other, out=folder)
    np.testing.assert_allclose(begun.parameters, other.parameters, rtol=1e-5, atol=1e-6)
    assert begun.provenance["init_from"]["algorithm"] == "er"
    # If it is killed before its first checkpoint, it begins with them as well.
    last, first = checkpoint.checkpoints(folder)
    assert first.name == "checkpoint-0000000000.npz"
    last.unlink()
    again = freqdyna.resume(folder, progress=False)
    np.testing.assert_array_equal(again.parameters, begun.parameters)
    assert again.provenance["init_from"] == begun.provenance["init_from"]
    for path in checkpoint.checkpoints(folder):
        path.write_bytes(b"damaged")
    with pytest.raises(FreqdynaError):
        freqdyna.resume(folder, progress=False)


def test_seeds_begin_with_their_own_parameters_or_with_the_only_ones(short):
    source, _ = short
    one = replace(source, seeds=np.array([9]), parameters=source.parameters[:1])

    def rows(config, of=source):
        return initial_parameters(of, config, build(config, envs.make(config.env)))

    base = {"env": "GridWorld", "seeds": 1, "first_seed": 1, "learner.hidden": (4,)}
    config = completed(Config.of(base | {"scale_observations": False}))
    np.testing.assert_array_equal(rows(config), source.parameters[1:2])
    four = replace(config, seeds=4)
    np.testing.assert_array_equal(rows(four, one), np.repeat(one.parameters, 4, axis=0))
    for wrong in (
        four,
        config.changed({"learner.activation": "relu"}),
        config.changed({"learner.hidden": (5,)}),
        config.changed({"scale_observations": True}),
        completed(Config.of({"env": "CartPole-v1", "learner.hidden": (4,)})),
    ):
        with pytest.raises(FreqdynaError, match="init_from"):
            rows(wrong)
    infinite = replace(source, parameters=np.full_like(source.parameters, np.inf))
    with pytest.raises(FreqdynaError, match="init_from"):
        rows(config, infinite)
