import importlib
import shutil
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna import FreqdynaError, SearchControl
from freqdyna.cli.main import main
from freqdyna.search_control import Proposal

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SMALL = {
    "algorithm": "dyna",
    "env": "GridWorld",
    "seeds": 2,
    "steps": 40,
    "planning_steps": 1,
    "learner.hidden": (4,),
    "batch_size": 4,
    "eval_every": 20,
    "warmup_steps": 0,
    "env.episode_limit": 30,
    "progress": False,
}


class Corner(SearchControl):
    """Always the same state."""

    x: float = 0.25

    def propose(self, search, key):
        """One state."""
        return Proposal.of(jnp.array([[self.x, 0.125]]))


def test_the_command_line_trains_with_the_example(tmp_path, monkeypatch, capsys):
    shutil.copy(EXAMPLES / "td_error.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "td_error", raising=False)
    small = "--seeds=2 --steps=40 --planning-steps=1 --learner.hidden=4 --eval-every=20"
    small += " --warmup-steps=0 --snapshot-steps=40 --search-control.states=10"
    command = "train --algorithm=dyna --search-control=td_error:TDError --out=runs/td"
    main([*command.split(), *small.split()])
    assert "dyna (td_error:TDError) on MountainCar-v0" in capsys.readouterr().out
    result = freqdyna.load("runs/td")
    assert result.config.search_control == "td_error:TDError"
    np.testing.assert_allclose(result.metrics["search_states"], 10, atol=1e-3)
    states = result.snapshots[40]["queue"]
    assert np.all((states >= [-1.2, -0.07]) & (states <= [0.6, 0.07]))
    assert np.ptp(states[..., 0]) > 1.5  # candidates come from the whole space
    main(["resume", "runs/td"])


@pytest.mark.parametrize(
    ("module", "name", "environment"),
    [
        ("td_error", "TDError", "MountainCar-v0"),
        ("particles", "Particles", "lake:Lake"),
    ],
)
def test_the_examples_work_with_a_learned_model(monkeypatch, module, name, environment):
    """One on a built-in environment, one on the lake, which is a Gymnasium environment.

    `test_own_environment` trains TDError on the lake, `test_runs` trains Particles on the car.
    """
    monkeypatch.syspath_prepend(EXAMPLES)
    file, _, lake = environment.partition(":")
    env = getattr(importlib.import_module(file), lake) if lake else environment
    strategy = getattr(importlib.import_module(module), name)
    settings = SMALL | {"env": env, "model": "learned", "search_control": strategy}
    result = freqdyna.train(**settings | {"learn_in_warmup": True})
    np.testing.assert_allclose(result.metrics["search_states"], 20, atol=1e-3)
    assert np.isfinite(result.parameters).all()
    for used in (module, file):
        sys.modules.pop(used, None)


def test_an_object_is_passed_to_train_and_to_resume(tmp_path):
    mine = Corner(0.5)
    by_object = freqdyna.train(
        search_control=mine, snapshot_steps=[40], out=tmp_path / "run", **SMALL
    )
    assert np.all(by_object.snapshots[40]["queue"] == [0.5, 0.125])
    with pytest.raises(FreqdynaError, match="search_control"):
        freqdyna.resume(tmp_path / "run", search_control=Corner(), progress=False)
    again = freqdyna.resume(tmp_path / "run", search_control=Corner, progress=False)
    np.testing.assert_array_equal(again.parameters, by_object.parameters)


class Renamed(Corner):
    """It records something under a name that is taken."""

    def init(self, space, key):
        """One number."""
        return jnp.zeros(1)

    def propose(self, search, key):
        """One state."""
        return Proposal.of(jnp.array([[self.x, 0.125]]), memory=search.memory)

    def snapshot(self, memory):
        """Not the queue."""
        return {"queue": memory}


class Narrow(SearchControl):
    """States of one coordinate."""

    def propose(self, search, key):
        """Too few coordinates."""
        return Proposal.of(jnp.zeros((3, 1)))


class Bare(SearchControl):
    """States without a proposal."""

    def propose(self, search, key):
        """An array."""
        return jnp.zeros((3, 2))


class Broken(SearchControl):
    """It raises."""

    def propose(self, search, key):
        """Fail."""
        return jnp.zeros(3) @ jnp.zeros(4)


@pytest.mark.parametrize(
    ("strategy", "method"),
    [(Renamed, "snapshot"), (Narrow, "propose"), (Bare, "propose")],
)
def test_what_has_another_form_is_refused_before_training(strategy, method, tmp_path):
    with pytest.raises(FreqdynaError, match=f"{strategy.__name__}.{method}"):
        freqdyna.train(search_control=strategy, out=tmp_path / "run", **SMALL)
    assert not list(tmp_path.iterdir())


def test_an_error_in_propose_keeps_its_class_and_names_the_contract(tmp_path):
    with pytest.raises(TypeError) as raised:
        freqdyna.train(search_control=Broken, out=tmp_path / "run", **SMALL)
    assert "Broken.propose" in "".join(raised.value.__notes__)
    assert not list(tmp_path.iterdir())


class Astray(SearchControl):
    """A state inside the space, one outside it, and one that is not finite."""

    def propose(self, search, key):
        """Three states."""
        return Proposal.of(jnp.array([[0.25, 0.125], [2.0, 0.125], [jnp.nan, 0.125]]))


def test_states_outside_the_space_are_counted_and_told_once():
    with pytest.warns(UserWarning, match="search-control proposed") as caught:
        result = freqdyna.train(search_control=Astray, snapshot_steps=(40,), **SMALL)
    assert len([one for one in caught if "search-control proposed" in str(one.message)]) == 2
    for name, number in (("outside", 20), ("non_finite", 20), ("states", 2)):
        np.testing.assert_array_equal(result.metrics[f"search_{name}"], np.full((2, 2), number))
    queue = result.snapshots[40]["queue"]
    assert np.unique(queue[..., 0]).tolist() == [0.25, 2.0]
    assert result.complete_seeds.kept.all()
