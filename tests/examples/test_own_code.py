"""An environment, a search-control and a model of one's own, as the guide shows them."""

import importlib
import shutil
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna import FreqdynaError, SearchControl
from freqdyna.agents.models import Model
from freqdyna.agents.models.true import host_model
from freqdyna.cli.main import main
from freqdyna.envs.gym import space_of
from freqdyna.search_control import Proposal
from freqdyna.sweeps.sweep import Sweep

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {
    "algorithm": "dyna",
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


def test_the_command_line_trains_with_the_examples(tmp_path, monkeypatch):
    for name in ("td_error", "my_model"):
        shutil.copy(EXAMPLES / f"{name}.py", tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    command = "train --algorithm=dyna --search-control=td_error:TDError --search-control.states=10"
    command += " --model=my_model:LinearModel --model.step-size=0.2 --out=run"
    command += " --seeds=2 --steps=40 --planning-steps=1 --learner.hidden=4 --batch-size=4"
    command += " --env.episode-limit=30 --eval-every=20 --warmup-steps=0"
    main(command.split())
    result = freqdyna.load("run")
    config = result.config
    assert (config.search_control, config.model) == ("td_error:TDError", "my_model:LinearModel")
    assert config["model.step_size"] == 0.2
    errors = result.metrics["model_error"]
    # It begins as "nothing moves", whose error is 1, and learns.
    assert ((errors > 0) & (errors < 1.001)).all()
    assert (errors[:, -1] < 1).all()
    np.testing.assert_allclose(result.metrics["search_states"], 10, atol=1e-3)


def test_the_command_line_trains_on_a_class_of_a_module(tmp_path, monkeypatch):
    shutil.copy(EXAMPLES / "lake.py", tmp_path)
    monkeypatch.delitem(sys.modules, "lake", raising=False)
    monkeypatch.chdir(tmp_path)
    command = "train --algorithm=er --env=lake:Lake --out=run --seeds=2 --steps=40"
    main([*command.split(), "--env.episode-limit=30", "--eval-every=20", "--warmup-steps=10"])
    main(["resume", "run", "--steps=60", "--allow-code"])
    result = freqdyna.load("run")
    assert (result.config.env, result.steps[-1]) == ("lake:Lake", 60)
    with pytest.raises(SystemExit):
        main(["train", "--env=lake:Pond"])
    sweep = Path("sweep.toml")
    sweep.write_text('[settings]\nenv = "lake:Lake"\n[vary]\nplaning_steps = [1]')
    with pytest.raises(FreqdynaError, match="planning_steps"):
        Sweep.read(sweep, allow_code=True)  # before any unit fails because of it
    sweep.write_text('[settings]\nenv = "lake:Lake"\nalgorithm = "dyna"\nmodel = "true"')
    assert Sweep.read(sweep, allow_code=True).units()


def test_a_command_fails_if_no_seed_is_left(tmp_path, monkeypatch):
    (tmp_path / "brief.py").write_text(
        "from lake import Lake\n\nclass Brief(Lake):\n    steps = 0\n"
        "    def step(self, action):\n        self.steps += 1\n"
        "        assert self.steps < 30\n        return super().step(action)\n"
    )
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    command = (
        "train --algorithm=er --env=brief:Brief --out=run --seeds=2 --steps=40 --eval-every=10"
    )
    with pytest.raises(SystemExit) as exited:
        main([*command.split(), "--env.episode-limit=5", "--eval-episodes=1"])
    assert exited.value.code == 1
    assert freqdyna.load("run").provenance["ended"]
    for name in ("brief", "lake"):
        sys.modules.pop(name)


def test_the_examples_train_on_the_lake(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    names = ("lake", "particles", "my_model")
    lake, particles, my_model = map(importlib.import_module, names)
    components = {"search_control": particles.Particles, "model": my_model.LinearModel}
    result = freqdyna.train(lake.Lake, **components, **SMALL)
    assert (result.config.env, result.config.model) == ("Lake", "my_model:LinearModel")
    np.testing.assert_allclose(result.metrics["search_states"], 20, atol=1e-3)
    assert result.complete_seeds.kept.all()
    assert result.policy(seed=0, env=lake.Lake)([0.5, 0.5]) in range(4)
    for name in names:
        sys.modules.pop(name)


def test_the_lake_has_a_true_model(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    lake = importlib.import_module("lake").Lake
    model = host_model(lake, space_of(lake()))
    next_states, rewards, terminals = model.ask(np.full((1, 2, 2), 0.5), np.array([[0, 3]]))
    np.testing.assert_allclose(next_states, [[[0.5, 0.6], [0.6, 0.5]]], atol=0.08)  # of wind 0.01
    assert (rewards == -1).all()
    assert not terminals.any()


class Astray(SearchControl):
    """A state inside the space, one outside it, and one that is not finite."""

    x: float = 0.25

    def propose(self, search, key):
        """Three states."""
        return Proposal.of(jnp.array([[self.x, 0.125], [2.0, 0.125], [jnp.nan, 0.125]]))


class Cracked(Model):
    """Nothing ever happens, and the result is not finite on the right half of the square."""

    reward: float = -1.0

    def query(self, state, s, action, noise):
        """The same state, or none."""
        next_state = jnp.where(s[0] > 0.5, jnp.nan, s)
        return next_state, jnp.asarray(self.reward), jnp.zeros((), bool)


def test_objects_are_passed_to_train_and_to_resume_and_what_is_not_finite_is_told(tmp_path):
    mine = {"search_control": Astray(0.125), "model": Cracked(-2.0)}
    with pytest.warns(UserWarning, match="search-control proposed|the model returned") as caught:
        result = freqdyna.train(
            "GridWorld", snapshot_steps=(40,), out=tmp_path / "run", **mine, **SMALL
        )
    told = [str(warning.message) for warning in caught]
    assert sum("search-control proposed" in one for one in told) == 2  # outside, not finite
    assert sum("the model returned" in one for one in told) == 1
    for name, number in (("outside", 20), ("non_finite", 20), ("states", 2)):
        np.testing.assert_array_equal(result.metrics[f"search_{name}"], np.full((2, 2), number))
    assert np.unique(result.snapshots[40]["queue"][..., 0]).tolist() == [0.125, 2.0]
    # Two of four transitions in each of 20 updates are simulated; half of the states are right.
    counts = result.metrics["model_non_finite"]
    assert ((counts > 5) & (counts < 35)).all()
    assert result.complete_seeds.kept.all()

    assert (result.config["search_control.x"], result.config["model.reward"]) == (0.125, -2.0)
    for name, other in (("search_control", Astray()), ("model", Cracked())):
        with pytest.raises(FreqdynaError, match=name):
            freqdyna.resume(tmp_path / "run", progress=False, **mine | {name: other})
    again = freqdyna.resume(tmp_path / "run", progress=False)  # from their names and settings
    np.testing.assert_array_equal(again.parameters, result.parameters)


class Renamed(Astray):
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


class Broken(SearchControl):
    """It raises."""

    def propose(self, search, key):
        """Fail."""
        return jnp.zeros(3) @ jnp.zeros(4)


class Batched(SearchControl):
    """It asks for the value of several states at once."""

    def propose(self, search, key):
        """Without jax.vmap."""
        states = search.visited(key, 3)
        return Proposal.of(states + search.value(states))


def test_what_takes_one_state_refuses_several():
    with pytest.raises(FreqdynaError, match="vmap"):
        freqdyna.check("GridWorld", "dyna", search_control=Batched)


@pytest.mark.parametrize(("strategy", "method"), [(Renamed, "snapshot"), (Narrow, "propose")])
def test_what_has_another_form_is_refused_before_training(strategy, method, tmp_path):
    with pytest.raises(FreqdynaError, match=f"{strategy.__name__}.{method}"):
        freqdyna.train("GridWorld", search_control=strategy, out=tmp_path / "run", **SMALL)
    assert not list(tmp_path.iterdir())


def test_an_error_in_propose_keeps_its_class_and_names_the_contract(tmp_path):
    with pytest.raises(TypeError) as raised:
        freqdyna.train("GridWorld", search_control=Broken, out=tmp_path / "run", **SMALL)
    assert "Broken.propose" in "".join(raised.value.__notes__)
    assert not list(tmp_path.iterdir())


def test_an_algorithm_without_a_model_takes_none():
    with pytest.raises(FreqdynaError, match="model"):
        freqdyna.train("GridWorld", "er", model=Cracked)


def test_what_is_no_component_is_refused():
    for kind, other in (("trust", object()), ("model", Astray), ("learner", int)):
        with pytest.raises(FreqdynaError, match=kind):
            freqdyna.check("GridWorld", "dyna", **{kind: other})
