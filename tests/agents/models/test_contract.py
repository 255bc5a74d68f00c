"""A user's model is checked before training."""

import jax
import jax.numpy as jnp
import pytest

import freqdyna
from freqdyna import FreqdynaError, envs
from freqdyna.agents import algorithms, models
from freqdyna.agents.models import Model
from freqdyna.config import Config


class Stays(Model):
    """Nothing ever happens."""

    def query(self, state, s, action, noise):
        """The same state."""
        return s, jnp.asarray(-1.0), jnp.zeros((), bool)


class Learns(Stays):
    """It is asked to learn, but has nothing that could change."""

    learn_batch = 4


def test_a_model_that_learns_may_have_no_state():
    env, config = (
        envs.make("GridWorld"),
        Config.of({"algorithm": "dyna-uniform", "env": "GridWorld", "learner": {"hidden": (4,)}}),
    )
    agent = algorithms.build(config, env, components={"model": Learns()})
    models.check_model(Learns(), env)
    before = jax.eval_shape(agent.init, jax.random.key(0))
    after = jax.eval_shape(agent.step, before, jax.ShapeDtypeStruct((), int))
    assert (after, after.model) == (before, None)


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


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            Floats,
            r"Floats\.query returned \(float32\[2\], float, bool\); it must be \(float",
        ),
        (Narrow, r"Narrow\.query returned \(float32\[1\], .*; it must be \(float32\[2\], "),
        (Pair, r"Pair\.query returned \(float32\[2\], float32\[\]\); it must be \("),
        (Grows, r"Grows\.learn returned float32\[3\]; it must be float32\[2\]"),
        (Unscaled, r"Unscaled\.with_scale returned None; it must be a Model"),
        (LearnsScaled, r"Grows\.learn returned float32\[3\]; it must be float32\[2\]"),
    ],
)
def test_what_has_another_form_is_refused_before_training(model, message, tmp_path):
    with pytest.raises(FreqdynaError, match=message):
        train_with(model, tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("model", "kind", "method"),
    [
        (Broken, TypeError, "query"),
        (FailsScaled, TypeError, "query"),
    ],
)
def test_an_error_in_a_method_keeps_its_class_and_names_the_contract(model, kind, method, tmp_path):
    with pytest.raises(kind) as raised:
        train_with(model, tmp_path / "run")
    assert f"freqdyna.agents.models.Model.{method}" in "".join(raised.value.__notes__)
    assert not list(tmp_path.iterdir())


def train_with(model, out):
    return freqdyna.train(
        "GridWorld", "dyna-uniform", model=model, steps=40, out=out, progress=False
    )
