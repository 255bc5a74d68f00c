import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.agents.learners.naf import NAF, Advantage, output_size
from freqdyna.envs.transition import Transition

LOW, HIGH = np.array([-2.0, 0.0], np.float32), np.array([2.0, 1.0], np.float32)


def make_naf(**settings):
    sizes = (3, 7, output_size(2))
    return NAF(
        **(
            {"sizes": sizes, "low": LOW, "high": HIGH, "discount": 0.9}
            | {"learning_rate": 0.01, "target_rate": 0.25}
            | settings
        )
    )


def scattered(naf, seed=0):
    """A state whose networks are far from zero."""
    state = naf.init(jax.random.key(seed))
    keys = jax.random.split(jax.random.key(seed + 1))
    params = jax.random.normal(keys[0], state.params.shape)
    target = jax.random.normal(keys[1], state.params.shape)
    return type(state)(params, target, state.optimizer)


def random_rows(seed, batch=6):
    generator = np.random.default_rng(seed)
    rows = [
        Transition(
            jnp.asarray(generator.normal(size=3), jnp.float32),
            jnp.asarray(generator.uniform(LOW, HIGH), jnp.float32),
            jnp.asarray(generator.normal(), jnp.float32),
            jnp.asarray(generator.normal(size=3), jnp.float32),
            jnp.asarray(generator.random() < 0.4),
        ).pack()
        for _ in range(batch)
    ]
    return jnp.stack(rows)


def test_continuous_actions_are_packed_and_unpacked():
    row = random_rows(0, batch=1)[0]
    assert row.shape == (3 + 3 + 2 + 2,)
    seen = Transition.unpack(row, 2)
    np.testing.assert_array_equal(seen.pack(), row)
    np.testing.assert_array_equal(seen.action, row[6:8])


def test_q_is_greatest_at_the_best_action_and_falls_by_the_quadratic_form():
    outputs = jax.random.normal(jax.random.key(0), (output_size(2),))
    at = Advantage.of(outputs, 2)
    form = np.asarray(at.factor @ at.factor.T)
    assert np.linalg.eigvalsh(form).min() > 0
    assert float(at.q(at.best)) == pytest.approx(float(outputs[0]))
    for action in np.random.default_rng(0).uniform(-1, 1, (20, 2)).astype(np.float32):
        away = action - np.asarray(at.best)
        # The paper's form: no factor of one half.
        expected = float(outputs[0]) - away @ form @ away
        assert float(at.q(jnp.asarray(action))) == pytest.approx(expected, rel=1e-4)


def test_the_value_that_searches_climb_is_that_of_the_best_action():
    naf = make_naf()
    params = scattered(naf).params
    states = jax.random.normal(jax.random.key(3), (10, 3))
    outputs = jax.vmap(naf.network(params))(states)
    values = jax.vmap(naf.value(params))(states)
    np.testing.assert_allclose(values, outputs[:, 0], rtol=1e-6)
    slope = naf.value(params).derivatives(states[0]).gradient
    exact = jax.grad(lambda s: naf.network(params)(s)[0])(states[0])
    np.testing.assert_allclose(slope, exact, rtol=1e-5)


def test_actions_are_the_best_with_noise_within_the_bounds_or_uniform():
    naf = make_naf()
    params, state = scattered(naf).params, jnp.array([0.1, -0.2, 0.3])
    best = Advantage.of(naf.network(params)(state), 2).best
    scaled = LOW + (np.asarray(best) + 1) / 2 * (HIGH - LOW)
    np.testing.assert_allclose(naf.act(params, state, 0.0, jax.random.key(0)), scaled, rtol=1e-6)
    keys = jax.random.split(jax.random.key(1), 4000)
    uniform = np.asarray(jax.vmap(lambda k: naf.act(params, state, 1.0, k))(keys))
    assert (uniform >= LOW).all()
    assert (uniform <= HIGH).all()
    # Five standard errors of a uniform mean: a false alarm in a million.
    margin = 5 * (HIGH - LOW) / np.sqrt(12 * 4000)
    assert (np.abs(uniform.mean(0) - (LOW + HIGH) / 2) < margin).all()
    noisy = np.asarray(jax.vmap(lambda k: naf.act(params, state, 0.9, k))(keys[:500]))
    assert (noisy >= LOW - 1e-6).all()
    assert (noisy <= HIGH + 1e-6).all()
    assert ((np.abs(noisy - LOW) < 1e-6) | (np.abs(noisy - HIGH) < 1e-6)).mean() > 0.1  # cut there
    noise, _, at_random = naf.draw_exploration((keys[0], keys[1]), (5000,), 0.1)
    assert not at_random.any()
    assert np.abs(np.asarray(noise).std(0) - 0.1).max() < 5 * 0.1 / np.sqrt(2 * 5000)


def differences_of(naf, target_params, rows):
    """From the parameters to the temporal-difference errors."""

    def difference(params, row):
        seen = Transition.unpack(row, 2)
        next_value = naf.network(target_params)(seen.next_state)[0]
        target = seen.reward + 0.9 * jnp.where(seen.terminal, 0.0, next_value)
        scaled = 2 * (seen.action - LOW) / (HIGH - LOW) - 1
        return target - Advantage.of(naf.network(params)(seen.state), 2).q(scaled)

    return jax.jit(lambda params: jax.vmap(difference, (None, 0))(params, rows))


def test_an_update_is_one_adam_step_on_the_mean_squared_difference():
    naf, rows = make_naf(), random_rows(1)
    state = scattered(naf)
    differences = differences_of(naf, state.target_params, rows)
    after, reported, _ = naf.update(state, rows[:, :3], lambda _: (rows, None), jnp.asarray(1))
    np.testing.assert_allclose(reported, differences(state.params), rtol=2e-4)
    slope = jax.jit(jax.grad(lambda p: jnp.mean(differences(p) ** 2)))(state.params)
    # Adam's first step is its step size in the direction of the sign of the slope.
    clear = np.abs(slope) > 1e-3 * np.abs(slope).max()
    moved = np.asarray(after.params - state.params)
    np.testing.assert_allclose(moved[clear], -0.01 * np.sign(slope)[clear], rtol=1e-2)
    expected = state.target_params + 0.25 * (after.params - state.target_params)
    np.testing.assert_allclose(after.target_params, expected, rtol=1e-6)


def test_huber_and_clipping_change_the_gradient_and_not_the_errors():
    rows, limit = random_rows(1), 0.05
    naf = make_naf(loss="huber", max_gradient_norm=limit)
    state = scattered(naf)
    differences = differences_of(naf, state.target_params, rows)

    def huber(params):
        size = jnp.abs(differences(params))
        return jnp.where(size <= 1, size**2 / 2, size - 0.5).mean()

    after, reported, _ = naf.update(state, rows[:, :3], lambda _: (rows, None), jnp.asarray(1))
    np.testing.assert_allclose(reported, differences(state.params), rtol=2e-4)
    assert (np.abs(reported) > 1).any()
    gradient = jax.jit(jax.grad(huber))(state.params)
    length = jnp.linalg.norm(gradient)
    assert length > limit
    # Adam's first average of gradients is a tenth of the first one.
    average = after.optimizer[0].mu
    np.testing.assert_allclose(average, 0.1 * limit / length * gradient, rtol=1e-3, atol=1e-6)


def test_a_transition_that_is_not_usable_is_as_one_without_an_error():
    naf, rows = make_naf(), random_rows(3)
    state = scattered(naf)
    seen = Transition.unpack(rows[0], 2)
    scaled = 2 * (seen.action - LOW) / (HIGH - LOW) - 1
    q = Advantage.of(naf.network(state.params)(seen.state), 2).q(scaled)
    perfect = Transition(seen.state, seen.action, q, seen.state, jnp.ones((), bool)).pack()
    no_error = rows.at[0].set(perfect)
    lost = rows.at[0, 3:].set(jnp.nan).at[0, 6:8].set(seen.action)
    usable = jnp.arange(len(rows)) > 0

    @jax.jit
    def updated(rows):
        return naf.update(state, rows[:, :3], lambda _: (rows, usable), jnp.asarray(1))

    (skipped, errors, _), (expected, _, _) = updated(lost), updated(no_error)
    assert jnp.isnan(errors[0])
    np.testing.assert_allclose(skipped.optimizer[0].mu, expected.optimizer[0].mu, atol=1e-6)


def test_simulated_transitions_get_the_outputs_of_their_states():
    naf, rows = make_naf(), random_rows(2)
    state, seen = scattered(naf), []

    def complete(outputs):
        seen.append(outputs)
        return rows, None

    naf.update(state, rows[:, :3], complete, jnp.asarray(1))
    expected = jax.vmap(naf.network(state.params))(rows[:, :3])
    np.testing.assert_allclose(seen[0], expected, rtol=1e-5)


def test_the_best_action_stays_within_the_bounds_whatever_the_network_says():
    outputs = jnp.array([7.0, 0.5, -40.0, 1.0, 2.0, 3.0])  # V, two of μ, three of L
    advantage = Advantage.of(outputs, 2)
    np.testing.assert_allclose(advantage.best, [np.tanh(0.5), -1.0], rtol=1e-6)
    assert advantage.value == 7.0
    assert advantage.factor[0, 1] == 0.0
    assert (jnp.diagonal(advantage.factor) > 0).all()
