"""Trust: the weights of planned transitions in closed form, and what they do to a training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna.agents.learners import DQN, Planned
from freqdyna.agents.models import Ensemble, Model
from freqdyna.agents.trust import Calibrated, Prediction, Trust, check_trust
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs import make
from freqdyna.envs.space import Transition

ENV = make("MountainCar-v0")
STATE, ACTION, ZERO = jnp.zeros(2), jnp.zeros((), int), jnp.zeros(())
PLAIN = Calibrated(optimism=0.0)


def prediction(target=0.0, variance=0.0, disagreement=0.0, q=0.0, v=0.0):
    numbers = [jnp.asarray(x, float) for x in (target, variance, disagreement, q, v, 0.99)]
    return Prediction(STATE, ACTION, *numbers)


def after(trust, rows, state=None):
    """The state after some (prediction, reward, terminal, target)."""
    state = trust.init() if state is None else state
    for predicted, reward, terminal, target in rows:
        seen = Transition(STATE, ACTION, jnp.asarray(reward), STATE, jnp.asarray(terminal))
        state = trust.observe(state, predicted, seen, jnp.asarray(target))
    return state


def rows_of(unit=1.0):
    """Errors of the model of 1, its variance 0.25, TD errors of 2; trivial errors are large."""
    made = []
    for sign in (1.0, -1.0) * 5:
        one = prediction((10 * sign + 1) * unit, 0.25 * unit**2, 0.0, (10 * sign + 2) * unit, 0.0)
        made.append((one, 0.0, False, 10.0 * sign * unit))
    return made


def test_the_weight_is_that_of_a_wiener_filter_with_calibrated_variances():
    state = after(PLAIN, rows_of())
    # E[error²] = 1, E[v] = 0.25, so κ = 4; E[δ²] = 4; trivial predictions miss by 10.
    for variance in (0.0, 0.25, 1.0, 100.0):
        _, weight = PLAIN.judge(state, prediction(variance=variance))
        skill = 1 - 1 / 100
        np.testing.assert_allclose(weight, skill * 4 / (4 + 4 * variance), rtol=1e-4)


@pytest.mark.parametrize("unit", [0.01, 100.0])
def test_the_units_of_rewards_do_not_matter(unit):
    trust = Calibrated(informed=100.0)

    def judged(u):
        rows = [*rows_of(u), *[(prediction(u), u, False, u)] * 10]
        target, weight = trust.judge(after(trust, rows), prediction(3 * u, 0.5 * u**2, 0.04))
        return [target / u, weight]

    np.testing.assert_allclose(judged(unit), judged(1.0), rtol=1e-4)


def test_a_model_that_is_no_better_than_a_trivial_one_has_no_weight():
    state = after(PLAIN, [(prediction(5.0, 0.1), 0.0, False, sign) for sign in (1.0, -1.0)])
    assert PLAIN.judge(state, prediction())[1] == 0


def test_a_model_that_is_always_right_counts_fully():
    rows = [(prediction(s, 0.0, q=0.0), 0.0, False, s) for s in (1.0, -1.0)]
    np.testing.assert_allclose(PLAIN.judge(after(PLAIN, rows), prediction())[1], 1.0)


def test_a_prediction_that_is_not_finite_is_forgotten():
    state = after(PLAIN, rows_of())
    bad = [(prediction(x), 0.0, False, 1.0) for x in (np.nan, np.inf, 1e30)]
    assert (
        PLAIN.judge(after(PLAIN, bad, state), prediction())[1]
        == PLAIN.judge(state, prediction())[1]
    )


def test_optimism_ends_when_rewards_and_terminations_have_told_something():
    trust = Calibrated(optimism=2.0, informed=4.0)
    alike = [(prediction(), -1.0, False, -1.0)] * 20
    state = after(trust, alike)
    target, weight = trust.judge(state, prediction(disagreement=9.0))
    np.testing.assert_allclose([target, weight], [2.0, 1.0], rtol=1e-5)  # at most the whole unit
    state = after(trust, [(prediction(), -1.0, True, -1.0)] * 2, state)
    np.testing.assert_allclose(trust.judge(state, prediction(disagreement=9.0))[0], 1.0, rtol=1e-5)
    state = after(trust, [(prediction(), 5.0, False, 5.0)] * 2, state)  # unlike the others
    assert trust.judge(state, prediction(disagreement=9.0))[0] == 0


def test_planned_transitions_without_weight_change_nothing():
    learner = DQN(hidden=(8,)).bind(ENV)
    state = learner.init(jax.random.key(0))
    states = jax.random.normal(jax.random.key(1), (6, 2))
    rows = jax.vmap(lambda s: Transition(s, ACTION, s[0], s + 0.1, ZERO).pack())(states)
    actions, targets = jnp.ones(4, int), jnp.full(4, 9.0)

    def updated(weight):
        planned = None
        if weight is not None:
            planned = Planned(states[:4], actions, targets, jnp.full(4, weight))
        complete = lambda outputs: (rows, None)  # noqa: E731
        after, errors, _ = learner.update(
            state, states, complete, jnp.ones((), int), planned, jax.random.key(0)
        )
        assert errors.shape == (6,)
        return after.params

    without = updated(None)
    np.testing.assert_allclose(updated(0.0), without, rtol=1e-5, atol=1e-7)
    assert np.abs(updated(1.0) - without).max() > 1e-5


def test_two_members_of_an_ensemble_answer():
    model = Ensemble(size=3).bind(ENV)
    state = model.init(jax.random.key(0))
    shifted = state.params + jnp.arange(3.0)[:, None] * 0.01  # so that all members differ
    state = type(state)(shifted, state.optimizer, state.moments)
    ask = jax.jit(lambda key: model.two_outcomes(state, STATE, ACTION, key)[1])
    for seed in range(20):
        first, second = ask(jax.random.key(seed))
        assert first != second


class Wrong(Model[None]):
    """Jumps to the other end of the space."""

    def query(self, state, s, action, noise):
        return -5 * s, -10 * jnp.ones(()), jnp.zeros((), bool)


SMALL = {"seeds": 2, "steps": 300, "warmup_steps": 100, "eval_every": 300, "eval_episodes": 1}
SMALL |= {"learner.hidden": (16,), "env.episode_limit": 50, "progress": False}


@pytest.mark.parametrize(("model", "least", "greatest"), [("true", 0.95, 1.0), (Wrong, 0.0, 0.02)])
def test_a_training_uses_a_right_model_and_refuses_a_wrong_one(model, least, greatest):
    control = {"search_control": "uniform", "trust": "calibrated", "model": model}
    result = freqdyna.train("MountainCar-v0", "dyna", **control, **SMALL)
    weight = result.metrics["trust"][:, -1]
    assert ((weight >= least) & (weight <= greatest)).all()


class Half(Trust[None]):
    """Everything counts half."""

    share: float = 0.5

    def judge(self, state, prediction):
        return prediction.target, jnp.full((), self.share)


def test_an_own_class_is_a_trust_with_settings():
    settings = {"search_control": "replay", "model": "ensemble", "snapshot_steps": (300,)}
    result = freqdyna.train("MountainCar-v0", "dyna", trust=Half(share=0.25), **settings, **SMALL)
    np.testing.assert_allclose(result.metrics["trust"][:, -1], 0.25, rtol=1e-5)
    np.testing.assert_allclose(result.snapshots[300]["trust"], 0.25)
    assert result.config["trust.share"] == 0.25


class Counted(Trust[None]):
    """It counts the transitions that are planned."""

    planned: list = eqx.field(static=True, default_factory=list)

    def judge(self, state, prediction):
        jax.debug.callback(lambda _: self.planned.append(1), prediction.target)
        return prediction.target, jnp.ones(())


def test_nothing_is_planned_in_the_warm_up():
    trust, counts = Counted(), []

    def count(evaluation):
        jax.effects_barrier()
        counts.append(len(trust.planned))

    settings = {"seeds": 2, "steps": 11, "warmup_steps": 10, "eval_every": 10, "batch_size": 4}
    settings |= {"search_control": "replay", "planning_steps": 3, "callback": count}
    freqdyna.train("MountainCar-v0", "dyna", model="true", trust=trust, **SMALL | settings)
    assert counts == [0, 2 * 3 * 2]  # seeds, updates, half a mini-batch


class Taken(Counted):
    """Its metric has the name of another one."""

    column: str = eqx.field(static=True, default="loss")

    def metrics(self, state):
        return {self.column: jnp.zeros(())}


@pytest.mark.parametrize("column", ["loss", "model_error_queue", "return", "step"])
def test_a_metric_with_the_name_of_another_one_is_refused_before_the_run(column, tmp_path):
    with pytest.raises(FreqdynaError, match=rf"Taken\.metrics returned '{column}'"):
        freqdyna.train("GridWorld", "dyna", trust=Taken(column=column), out=tmp_path / "run")
    assert not any(tmp_path.iterdir())


class Flat(Trust[None]):
    def judge(self, state, prediction):
        return prediction.target


def test_a_trust_that_returns_something_else_is_refused():
    with pytest.raises(FreqdynaError, match=r"Flat\.judge"):
        check_trust(Flat(), ENV)
    with pytest.raises(FreqdynaError, match="trust"):
        freqdyna.train("MountainCar-v0", "er", trust="calibrated", **SMALL)
