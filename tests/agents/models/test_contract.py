"""A user's model is checked before training, and a mistake in it is told with its line."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import freqdyna
from freqdyna import FreqdynaError, envs
from freqdyna.agents import algorithms, models
from freqdyna.agents.models import Model
from freqdyna.config import Config
from freqdyna.envs.resolve import resolved


class Stays(Model):
    """Nothing ever happens."""

    def query(self, state, s, action, noise):
        """The same state."""
        return s, jnp.asarray(-1.0), jnp.zeros((), bool)


class Around(Stays):
    """A model around another one."""

    inner: Model = Stays()

    def disagreement(self, state, s, action):
        """That of the other one, which has none."""
        return self.inner.disagreement(state, s, action)


def test_a_model_may_pass_on_that_another_one_has_no_disagreement():
    models.check_model(Around(), envs.make("GridWorld"))


class Learns(Stays):
    """It is asked to learn, but has nothing that could change."""

    learn_batch = 4


def test_a_model_that_learns_may_have_no_state():
    env, config = envs.make("GridWorld"), Config("dyna-uniform", "GridWorld", hidden=(4,))
    agent = algorithms.build(resolved(config, env), env, model=Learns())
    models.check_model(Learns(), env)
    before = jax.eval_shape(agent.init, jax.random.key(0))
    after = jax.eval_shape(agent.step, before, jax.ShapeDtypeStruct((), int))
    assert (after, after.model) == (before, None)


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


class Disagrees(Grows):
    """It disagrees about something that does not exist."""

    learn_batch = 0

    def disagreement(self, state, s, action):
        """Fail."""
        return state.nothing


class DisagreesByCoordinate(Stays):
    """A number for each coordinate."""

    def disagreement(self, state, s, action):
        """One too many."""
        return s


class Unscaled(Stays):
    """Nothing with a scale."""

    def with_scale(self, centre, half):
        """Forget to return it."""


class FailsScaled(Stays):
    """It fails only with scaled observations."""

    half: jax.Array | None = None

    def with_scale(self, centre, half):
        """The same with a scale."""
        return FailsScaled(half)

    def query(self, state, s, action, noise):
        """Fail if there is a scale."""
        if self.half is not None:
            s = s @ jnp.append(self.half, 1.0)
        return super().query(state, s, action, noise)


class LearnsScaled(Grows):
    """Its state becomes longer only with scaled observations."""

    learn_batch = 0

    def with_scale(self, centre, half):
        """A model that learns wrongly."""
        return Grows()


class Arguments(Stays):
    """A constructor of its own, and no from_config."""

    def __init__(self, cost):
        """Never called without a cost."""


class Refuses(Stays):
    """A constructor that fails."""

    def __init__(self):
        """Fail."""
        raise ValueError("no")


FILE = r".*test_contract\.py, line \d+"
LINES = {
    Broken: "        return jnp.zeros(3) @ jnp.zeros(4)",
    Arguments: "class Arguments(Stays):",
    Refuses: '        raise ValueError("no")',
    Disagrees: "        return state.nothing",
    FailsScaled: "            s = s @ jnp.append(self.half, 1.0)",
}
"""The line that each mistake is on."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NoQuery, "which cannot be created by from_config .*Can't instantiate abstract class"),
        (NoDefault, rf"from_config \({FILE}\): .*missing 1 .*; define from_config in the class"),
        (Arguments, rf"from_config \({FILE}\): .*missing 1 .*; define from_config in the class"),
        (Refuses, rf"from_config \({FILE}\): ValueError: no$"),
        (Unscaled, rf"in with_scale \({FILE}\): it returned NoneType; it must be a Model"),
        (FailsScaled, rf"with_scale returns another, which fails in query \({FILE}\): TypeError"),
        (LearnsScaled, rf"returns another, which fails in learn \({FILE}\): it returned the state"),
        (Disagrees, rf"fails in disagreement \({FILE}\): AttributeError: .* no attribute"),
        (DisagreesByCoordinate, r"disagreement .*: it returned float32\[2\]; .* array of shape \("),
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
        freqdyna.train(
            "GridWorld", "dyna-uniform", model=model, steps=40, out=tmp_path / "run", progress=False
        )
    assert not list(tmp_path.iterdir())
    if model in LINES:
        line = 1 + Path(__file__).read_text().splitlines().index(LINES[model])
        assert f"test_contract.py, line {line})" in str(told.value)
