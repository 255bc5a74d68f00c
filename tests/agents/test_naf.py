from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.agents.learners import NAF, Advantage, output_size
from freqdyna.envs.space import Space, Transition

LOW, HIGH = np.array([-2.0, 0.0], np.float32), np.array([2.0, 1.0], np.float32)


@jax.jit
def advantage(outputs):
    return Advantage.of(outputs, 2)


class Three(Space):
    """Three coordinates, two actions."""

    name: ClassVar[str] = "Three"
    low: ClassVar[np.ndarray] = np.full(3, -1.0, np.float32)
    high: ClassVar[np.ndarray] = np.full(3, 1.0, np.float32)
    num_actions: ClassVar[int] = 0
    action_low: ClassVar[np.ndarray] = LOW
    action_high: ClassVar[np.ndarray] = HIGH


def make_naf(**settings):
    usual = {"hidden": (7,), "discount": 0.9, "learning_rate": 0.01, "target_rate": 0.25}
    return NAF(**usual | settings).bind(Three())


@eqx.filter_jit
def scattered(naf):
    """A state whose networks are far from zero."""
    state = naf.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1))
    params = jax.random.normal(keys[0], state.params.shape)
    target = jax.random.normal(keys[1], state.params.shape)
    return type(state)(params, target, state.optimizer)


@jax.jit
@jax.vmap
def packed(*values):
    return Transition(*values).pack()


def random_rows(seed, batch=6):
    generator = np.random.default_rng(seed)
    return packed(
        generator.normal(size=(batch, 3)).astype(np.float32),
        generator.uniform(LOW, HIGH, (batch, 2)).astype(np.float32),
        generator.normal(size=batch).astype(np.float32),
        generator.normal(size=(batch, 3)).astype(np.float32),
        generator.random(batch) < 0.4,
    )


def test_q_is_greatest_at_the_best_action_and_falls_by_the_quadratic_form():
    outputs = np.asarray(jax.random.normal(jax.random.key(0), (output_size(2),)))
    at = advantage(outputs)
    factor, q = np.asarray(at.factor), jax.jit(jax.vmap(Advantage.q, in_axes=(None, 0)))
    form = factor @ factor.T
    assert np.linalg.eigvalsh(form).min() > 0
    assert float(q(at, at.best[None])[0]) == pytest.approx(float(outputs[0]))
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 2)).astype(np.float32)
    away = actions - np.asarray(at.best)
    # The paper's form: no factor of one half.
    expected = outputs[0] - np.einsum("bi,ij,bj->b", away, form, away)
    np.testing.assert_allclose(q(at, actions), expected, rtol=1e-4)


def test_the_value_that_searches_climb_is_that_of_the_best_action():
    naf, states = make_naf(), jax.random.normal(jax.random.key(3), (10, 3))

    @jax.jit
    def both(params):
        return jax.vmap(naf.network(params))(states)[:, 0], jax.vmap(naf.value(params))(states)

    outputs, values = both(scattered(naf).params)
    np.testing.assert_allclose(values, outputs, rtol=1e-5, atol=1e-5)


def test_actions_are_the_best_with_noise_within_the_bounds_or_uniform():
    naf, number = make_naf(), 4000
    params, state = scattered(naf).params, np.float32([0.1, -0.2, 0.3])
    act = jax.jit(jax.vmap(naf.act, in_axes=(None, None, None, 0)))
    best = advantage(jax.jit(lambda p, s: naf.network(p)(s))(params, state)).best
    scaled = LOW + (np.asarray(best) + 1) / 2 * (HIGH - LOW)
    keys = jax.random.split(jax.random.key(1), number)
    np.testing.assert_allclose(act(params, state, 0.0, keys)[0], scaled, rtol=1e-6)
    uniform = np.asarray(act(params, state, 1.0, keys))
    noisy = np.asarray(act(params, state, 0.9, keys))
    for actions in (uniform, noisy):
        assert ((actions >= LOW - 1e-6) & (actions <= HIGH + 1e-6)).all()
    # Five standard errors of a uniform mean: a false alarm in a million.
    margin = 5 * (HIGH - LOW) / np.sqrt(12 * number)
    assert (np.abs(uniform.mean(0) - (LOW + HIGH) / 2) < margin).all()
    assert ((np.abs(noisy - LOW) < 1e-6) | (np.abs(noisy - HIGH) < 1e-6)).mean() > 0.1  # cut there
    draw = jax.jit(lambda *both: naf.draw_exploration(both, (number,), 0.1))
    noise, _, at_random = draw(*jax.random.split(jax.random.key(2)))
    assert not np.any(at_random)
    assert np.abs(np.asarray(noise).std(0) - 0.1).max() < 5 * 0.1 / np.sqrt(2 * number)


@eqx.filter_jit
def update(naf, state, rows, usable=None):
    complete, count = lambda _: (rows, usable), jnp.asarray(1)
    return naf.update(state, rows[:, :3], complete, count, None, jax.random.key(0))


def test_an_update_is_one_adam_step_on_the_mean_squared_difference():
    naf, rows = make_naf(), random_rows(1)
    state = scattered(naf)

    def difference(params, row):
        seen = Transition.unpack(row, 2)
        next_value = naf.network(state.target_params)(seen.next_state)[0]
        target = seen.reward + 0.9 * jnp.where(seen.terminal, 0.0, next_value)
        scaled = 2 * (seen.action - LOW) / (HIGH - LOW) - 1
        return target - Advantage.of(naf.network(params)(seen.state), 2).q(scaled)

    def loss(params):
        differences = jax.vmap(difference, (None, 0))(params, rows)
        return jnp.mean(differences**2), differences

    slope, differences = jax.jit(jax.grad(loss, has_aux=True))(state.params)
    after, reported, _ = update(naf, state, rows)
    np.testing.assert_allclose(reported, differences, rtol=2e-4)
    # Adam's first step is its step size in the direction of the sign of the slope.
    clear = np.abs(slope) > 1e-3 * np.abs(slope).max()
    moved = np.asarray(after.params) - np.asarray(state.params)
    np.testing.assert_allclose(moved[clear], -0.01 * np.sign(slope)[clear], rtol=1e-2)
    target = np.asarray(state.target_params)
    expected = target + 0.25 * (np.asarray(after.params) - target)
    np.testing.assert_allclose(after.target_params, expected, rtol=1e-6)


def test_a_transition_that_is_not_usable_is_as_one_without_an_error():
    naf, rows = make_naf(), np.array(random_rows(3))
    state, usable = scattered(naf), np.arange(len(rows)) > 0
    lost, no_error = rows.copy(), rows.copy()
    lost[0, [3, 4, 5, 8, 9]] = np.nan  # all except state and action
    no_error[0, 8:] = 0.0, 1.0  # no reward and the end: the error is minus the prediction
    no_error[0, 8] = -update(naf, state, no_error)[1][0]
    skipped, errors, _ = update(naf, state, lost, usable)
    expected, _, _ = update(naf, state, no_error)
    assert np.isnan(errors[0])
    np.testing.assert_allclose(skipped.optimizer[0].mu, expected.optimizer[0].mu, atol=1e-6)
