"""The page on models of one's own, as a reader would follow it."""

import re
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
from freqdyna.envs.resolve import resolved

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "my_model.py"
PAGE = ROOT / "docs" / "write-your-own-model.md"
SMALL = {
    "algorithm": "dyna-uniform",
    "seeds": 2,
    "steps": 40,
    "planning_steps": 1,
    "hidden": (4,),
    "batch_size": 4,
    "search_states": 2,
    "eval_every": 20,
    "warmup_steps": 0,
    "episode_limit": 30,
    "progress": False,
}


def test_the_page_shows_the_example_as_it_is():
    assert f"```python\n{EXAMPLE.read_text()}```" in PAGE.read_text()
    assert len(EXAMPLE.read_text().splitlines()) < 60


def test_the_command_of_the_page_trains_with_the_example(tmp_path, monkeypatch):
    command = re.search(
        r"^freqdyna (train .*my_model:LinearModel.*)$", PAGE.read_text(), re.MULTILINE
    )
    shutil.copy(EXAMPLE, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    small = "--seeds=2 --steps=40 --planning-steps=1 --hidden=4 --batch-size=4 --search-states=2"
    small += " --eval-every=20 --episode-limit=30"
    # Another search-control compiles faster.
    main([*command.group(1).replace("dyna-frequency", "dyna-uniform").split(), *small.split()])
    out = re.search(r"--out (\S+)", command.group(1)).group(1)
    result = freqdyna.load(out)
    assert (result.config.model, result.config.env) == ("my_model:LinearModel", "MountainCar-v0")
    errors = result.metrics["model_error"]
    assert (errors > 0).all()
    assert (errors < 0.2).all()


def test_the_call_of_the_page_trains_with_the_example_on_the_lake(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    trained, train = [], freqdyna.train
    monkeypatch.setattr(
        freqdyna, "train", lambda env, _, **given: trained.append(train(env, **given | SMALL))
    )
    calls = [block.split("```")[0] for block in PAGE.read_text().split("```python\n")[2:]]
    exec(calls[0], {})  # the page's own lines
    (result,) = trained
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
    mine = Cracked(-2.0)
    with pytest.warns(UserWarning, match="the model returned") as caught:
        result = freqdyna.train("GridWorld", model=mine, out=tmp_path / "run", **SMALL)
    assert result.config.model.endswith("test_own_model:Cracked")
    (told,) = [str(w.message) for w in caught if "the model returned" in str(w.message)]
    counts = result.metrics["model_non_finite"]
    # Two of four transitions in each of 20 updates are simulated; half of the states are right.
    assert ((counts > 10) & (counts < 30)).all()
    assert told == (
        f"the model returned {int(counts[:, 0].sum())} transitions that are not finite, which are "
        "not learned from (seeds 0, 1); the metric model_non_finite counts them at each evaluation"
    )
    assert np.isfinite(result.metrics["loss"]).all()
    assert result.complete_seeds.kept.all()

    with pytest.raises(FreqdynaError, match=r"was started with Cracked\(reward=-2.0\); pass that"):
        freqdyna.resume(tmp_path / "run", model=Cracked, progress=False)
    again = freqdyna.resume(tmp_path / "run", model=mine, progress=False)
    np.testing.assert_array_equal(again.parameters, result.parameters)


def test_an_algorithm_without_a_model_takes_none():
    with pytest.raises(FreqdynaError, match="Stays', but 'er' has no model"):
        freqdyna.train("GridWorld", model=Stays, **SMALL | {"algorithm": "er"})


def test_names_of_models():
    assert models.find("learned") is models.LearnedModel
    assert models.full_name(models.LearnedModel) == "learned"
    assert models.find(models.full_name(Stays)) is Stays
    with pytest.raises(FreqdynaError, match=r"model is 'lerned'; it must be 'true', .*module:Cla"):
        Config(model="lerned")
    with pytest.raises(FreqdynaError, match=r"'sep' must be a subclass of freqdyna\.agents\.mod"):
        models.find("os:sep", allow_code=True)


def test_a_model_that_is_not_an_ensemble_refuses_to_disagree():
    env = envs.make("GridWorld")
    model = algorithms.build(resolved(Config("dyna-uniform", "GridWorld"), env), env).planning.model
    with pytest.raises(FreqdynaError, match="TrueModel, which has no disagreement because it is n"):
        jax.eval_shape(lambda s: model.disagreement(None, s, jnp.zeros((), int)), jnp.zeros(2))


class NoQuery(Model):
    """An abstract class."""


class NoDefault(Model):
    """Its field is nowhere set."""

    cost: float

    def query(self, state, s, action, noise):
        """Never called."""


class Floats(Stays):
    """Python's own numbers."""

    def query(self, state, s, action, noise):
        """A float instead of an array."""
        return s, -1.0, False


class Narrow(Stays):
    """States of one coordinate."""

    def query(self, state, s, action, noise):
        """Too few coordinates."""
        return s[:1], jnp.asarray(-1.0), jnp.zeros((), bool)


class Pair(Stays):
    """No terminal flag."""

    def query(self, state, s, action, noise):
        """Two of three."""
        return s, jnp.asarray(-1.0)


class Broken(Stays):
    """It raises."""

    def query(self, state, s, action, noise):
        """Fail two lines below."""
        # This comment is one of them.
        return jnp.zeros(3) @ jnp.zeros(4)


class Grows(Stays):
    """Its state becomes longer."""

    learn_batch = 4

    def init(self, key):
        """Two numbers."""
        return jnp.zeros(2)

    def learn(self, state, batch):
        """Three numbers."""
        return jnp.append(state, batch.reward.mean())


class Exits(Grows):
    """It ends the process."""

    def learn(self, state, batch):
        """Exit."""
        sys.exit(0)


class Listed(Stays):
    """A state that cannot be saved."""

    def init(self, key):
        """Text."""
        return {"name": "mine"}


class Noisy(Stays):
    """A size that is none."""

    noise_size = -1


FILE = r".*test_own_model\.py, line \d+"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NoQuery, "which cannot be created by from_config .*Can't instantiate abstract class"),
        (NoDefault, "which cannot be created by from_config .*missing 1 required .* argument"),
        (Floats, rf"query \({FILE}\): it returned float as reward; it must be a JAX array of fl"),
        (Narrow, r"it returned float32\[1\] as next state; .* of floats of shape \(2,\)"),
        (Pair, "it returned tuple; it must be a tuple of next state, reward and terminal"),
        (Broken, rf"fails in query \({FILE}\): TypeError: dot_general requires contracting dim"),
        (Grows, r"the state float32\[3\]; it must have the .* of the state of init, float32\[2\]"),
        (Exits, "fails in learn .*: it calls sys.exit"),
        (Listed, r"init .*: it returned str\['name'\]; the state must consist of JAX arrays"),
        (Noisy, "whose noise_size is -1; it must be an integer, 0 or greater"),
    ],
)
def test_mistakes_in_a_class_are_told_in_one_sentence_with_the_line(model, message, tmp_path):
    with pytest.raises(FreqdynaError, match=f"model is '.*:{model.__name__}', .*{message}") as told:
        freqdyna.train("GridWorld", model=model, out=tmp_path / "run", **SMALL)
    assert not list(tmp_path.iterdir())
    if model is Broken:
        line = 1 + Path(__file__).read_text().splitlines().index(
            "        return jnp.zeros(3) @ jnp.zeros(4)"
        )
        assert f"line {line})" in str(told.value)


def test_the_command_line_tells_the_line_of_a_mistake(tmp_path, monkeypatch, capsys):
    text = EXAMPLE.read_text().replace("jnp.append(s, 1.0) @", "s @")
    (tmp_path / "mistaken.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    options = ["--algorithm=dyna-uniform", "--env=GridWorld", "--model=mistaken:LinearModel"]
    with pytest.raises(SystemExit) as exited:
        main(["train", *options, "--steps=40", "--out=run"])
    assert exited.value.code == 2
    line = 1 + next(i for i, row in enumerate(text.splitlines()) if "s @" in row)
    told = capsys.readouterr().err
    assert "model is 'mistaken:LinearModel', which fails in query" in told
    assert f"(mistaken.py, line {line})" in told
    sys.modules.pop("mistaken")
