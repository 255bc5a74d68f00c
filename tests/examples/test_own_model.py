"""A model of one's own, as the guide shows it."""

import importlib
import shutil
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna import FreqdynaError, envs
from freqdyna.agents import algorithms, models
from freqdyna.agents.models import Model
from freqdyna.cli.main import main
from freqdyna.config import Config

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "my_model.py"
SMALL = {
    "algorithm": "dyna-uniform",
    "seeds": 2,
    "steps": 40,
    "planning_steps": 1,
    "learner.hidden": (4,),
    "batch_size": 4,
    "search_control.states": 2,
    "eval_every": 20,
    "warmup_steps": 0,
    "env.episode_limit": 30,
    "progress": False,
}


def test_the_command_line_trains_with_the_example(tmp_path, monkeypatch):
    shutil.copy(EXAMPLE, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    small = "--seeds=2 --steps=40 --planning-steps=1 --learner.hidden=4 --batch-size=4"
    small += " --search-control.states=2 --eval-every=20 --env.episode-limit=30 --warmup-steps=0"
    command = "train --algorithm=dyna-uniform --model=my_model:LinearModel --out=runs/linear"
    small += " --model.step-size=0.2"
    main([*command.split(), *small.split()])
    result = freqdyna.load("runs/linear")
    assert (result.config.model, result.config.env) == ("my_model:LinearModel", "MountainCar-v0")
    assert result.config["model.step_size"] == 0.2
    errors = result.metrics["model_error"]
    assert (errors > 0).all()
    assert (errors < 0.2).all()


def test_the_example_learns_on_the_lake(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    lake, my_model = (importlib.import_module(name) for name in ("lake", "my_model"))
    result = freqdyna.train(lake.Lake, model=my_model.LinearModel, **SMALL)
    assert (result.config.model, result.config.env) == ("my_model:LinearModel", "Lake")
    assert result.complete_seeds.kept.all()
    for name in ("lake", "my_model"):
        sys.modules.pop(name)


class Stays(Model):
    """Nothing ever happens, and it costs as much as it is told to."""

    reward: float = -1.0

    def query(self, state, s, action, noise):
        """The same state."""
        return s, jnp.asarray(self.reward), jnp.zeros((), bool)


class Cracked(Stays):
    """Not finite on the right half of the square."""

    def query(self, state, s, action, noise):
        """The same state, or none."""
        next_state, reward, terminal = super().query(state, s, action, noise)
        return jnp.where(s[0] > 0.5, jnp.nan, next_state), reward, terminal


def test_an_object_is_passed_to_train_and_to_resume_and_may_be_not_finite(tmp_path):
    mine = Cracked(-2.0)  # its class is in a module that is imported here
    with pytest.warns(UserWarning, match="the model returned") as caught:
        result = freqdyna.train("GridWorld", model=mine, out=tmp_path / "run", **SMALL)
    assert result.config.model.endswith("test_own_model:Cracked")
    (told,) = [str(w.message) for w in caught if "the model returned" in str(w.message)]
    counts = result.metrics["model_non_finite"]
    # Two of four transitions in each of 20 updates are simulated; half of the states are right.
    assert ((counts > 10) & (counts < 30)).all()
    assert told.startswith("seeds 0, 1:")
    assert np.isfinite(result.metrics["loss"]).all()
    assert result.complete_seeds.kept.all()

    assert result.config["model.reward"] == -2.0
    with pytest.raises(FreqdynaError, match="model"):
        freqdyna.resume(tmp_path / "run", model=Cracked(-3.0), progress=False)
    again = freqdyna.resume(tmp_path / "run", progress=False)  # from its name and its settings
    np.testing.assert_array_equal(again.parameters, result.parameters)


def test_an_algorithm_without_a_model_takes_none():
    with pytest.raises(FreqdynaError, match="model"):
        freqdyna.train("GridWorld", "er", model=Stays)


def test_names_of_models():
    assert models.MODELS.find("learned") is models.Learned
    assert models.MODELS.full_name(models.Learned) == "learned"
    assert models.MODELS.find(models.MODELS.full_name(Stays)) is Stays
    for wrong in ("lerned", "os:sep"):
        with pytest.raises(FreqdynaError, match=wrong):
            models.MODELS.find(wrong)


def test_a_model_that_is_not_an_ensemble_refuses_to_disagree():
    env = envs.make("GridWorld")
    model = algorithms.build(Config("dyna-uniform", "GridWorld"), env).planning.model
    with pytest.raises(FreqdynaError, match="TrueModel"):
        jax.eval_shape(lambda s: model.disagreement(None, s, jnp.zeros((), int)), jnp.zeros(2))


def test_the_command_line_prints_the_traceback_of_a_mistake(tmp_path, monkeypatch, capsys):
    text = EXAMPLE.read_text().replace("jnp.append(s, 1.0) @", "s @")
    (tmp_path / "mistaken.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    options = ["--algorithm=dyna-uniform", "--env=GridWorld", "--model=mistaken:LinearModel"]
    with pytest.raises(SystemExit) as exited:
        main(["train", *options, "--steps=40", "--out=run"])
    assert exited.value.code == 1
    line = 1 + next(i for i, row in enumerate(text.splitlines()) if "s @" in row)
    told = capsys.readouterr().err
    assert f'mistaken.py", line {line}, in ' in told
    assert "see freqdyna.agents.models.Model.query" in told
    sys.modules.pop("mistaken")
