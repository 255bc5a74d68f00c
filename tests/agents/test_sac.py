from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.agents.dyna.scale import ObservationScale
from freqdyna.agents.learners import LearnerState, Planned
from freqdyna.agents.sac import SAC, action_values, sampled
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.space import Space, Transition

LOW, HIGH = np.array([-2.0, 0.0], np.float32), np.array([2.0, 1.0], np.float32)
N, BATCH = 3, 6


class Three(Space):
    """Three coordinates, two actions."""

    name: ClassVar[str] = "Three"
    low: ClassVar[np.ndarray] = np.full(N, -1.0, np.float32)
    high: ClassVar[np.ndarray] = np.full(N, 1.0, np.float32)
    num_actions: ClassVar[int] = 0
    action_low: ClassVar[np.ndarray] = LOW
    action_high: ClassVar[np.ndarray] = HIGH


def make_sac(**settings):
    usual = {"hidden": (7,), "discount": 0.9, "learning_rate": 0.01, "target_rate": 0.25}
    return SAC(**usual | {"critics": 3, "subset": 3} | settings).bind(Three())


def scattered(sac, log_temperature):
    """A state whose networks are far from zero."""
    start = sac.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1))
    params, target = (0.7 * jax.random.normal(key, start.params.shape) for key in keys)
    return LearnerState(params.at[-1].set(log_temperature), target, start.optimizer)


def random_rows(seed):
    generator = np.random.default_rng(seed)
    rows = jax.vmap(lambda *values: Transition(*values).pack())(
        *map(
            jnp.asarray,
            (
                generator.normal(size=(BATCH, N)).astype(np.float32),
                generator.uniform(LOW, HIGH, (BATCH, 2)).astype(np.float32),
                generator.normal(size=BATCH).astype(np.float32),
                generator.normal(size=(BATCH, N)).astype(np.float32),
                generator.random(BATCH) < 0.4,
            ),
        )
    )
    return rows


@eqx.filter_jit
def update(sac, state, rows, planned=None, usable=None):
    complete, key = lambda _: (rows, usable), jax.random.key(7)
    return sac.update(state, rows[:, :N], complete, jnp.asarray(1), planned, key)


def test_the_density_of_actions_is_that_of_a_squashed_normal():
    # With Q constant, what is left of the density is its integral over (-1, 1).
    outputs = jnp.array([0.4, np.log(0.8)])
    edges = np.linspace(-6, 6, 4001)
    actions, log_density = jax.vmap(lambda e: sampled(outputs, e[None]))(jnp.asarray(edges))
    integral = np.trapezoid(np.exp(np.asarray(log_density, float)), np.asarray(actions[:, 0]))
    assert integral == pytest.approx(1, abs=1e-3)
    draws = jax.random.normal(jax.random.key(0), (20_000, 1))
    drawn = np.asarray(jax.vmap(lambda e: sampled(outputs, e))(draws)[0])
    below = np.asarray(actions[:, 0]) <= 0.5
    mass = np.trapezoid(np.exp(np.asarray(log_density, float))[below], actions[below, 0])
    # Five standard errors: a false alarm in a million.
    assert abs((drawn <= 0.5).mean() - mass) < 5 * 0.5 / np.sqrt(len(drawn))


def test_the_value_that_searches_climb_and_its_derivatives_are_exact():
    with jax.enable_x64(True):
        sac = make_sac(hidden=(6, 5))
        params = jax.random.normal(jax.random.key(0), sac.init(jax.random.key(0)).params.shape)
        value, state = sac.value(params), jnp.array([0.3, -0.2, 0.1])
        greedy = sac.act(params, state, 0.0, jax.random.key(0))
        assert float(value(state)) == pytest.approx(float(sac.action_value(params, state, greedy)))

        @jax.jit
        def at(x):
            derivatives, slopes = value.derivatives(x), value.slopes(x, 0.7, 1.3)
            return value(x), derivatives.gradient, derivatives.hessian, slopes

        def frequency(x):
            _, gradient, hessian, _ = at(x)
            return 0.7 * (gradient**2).sum() + 1.3 * (hessian**2).sum()

        def differences(function, step=1e-5):
            return np.stack(
                [(function(state + e) - function(state - e)) / (2 * step) for e in step * np.eye(N)]
            )

        _, gradient, hessian, (climb, slope) = at(state)
        np.testing.assert_allclose(gradient, differences(lambda x: at(x)[0]), rtol=1e-6)
        np.testing.assert_allclose(hessian, differences(lambda x: at(x)[1]), rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(climb, differences(frequency), rtol=1e-5)
        np.testing.assert_allclose(slope, gradient, rtol=1e-10)


def test_an_update_is_one_adam_step_of_critics_and_actor():
    # Almost without entropy and noise, so that the losses do not depend on random numbers.
    sac, rows = make_sac(), random_rows(1)
    state = scattered(sac, -60.0)
    count, deviations = np.prod(sac.sizes[:2]) + 7 * 4, slice(-2, None)  # biases of log σ come last
    actor = np.asarray(state.params[: count + sum(sac.sizes[1:])]).copy()
    actor[deviations] = -1e4
    state = eqx.tree_at(lambda s: s.params, state, state.params.at[: len(actor)].set(actor))

    def best(params, s):
        return jnp.tanh(sac.network(params)(s)[:2])

    def values(params, s, scaled):
        return action_values(sac.critic_networks(params), s[None], scaled[None])[:, 0]

    def of_critics(params):
        seen = jax.vmap(lambda row: Transition.unpack(row, 2))(rows)
        after = jax.vmap(lambda s: values(state.target_params, s, best(state.params, s)).min())
        left = jnp.where(seen.terminal, 0.0, after(seen.next_state))
        scaled = 2 * (seen.action - LOW) / (HIGH - LOW) - 1
        targets = seen.reward + 0.9 * left
        errors = targets[:, None] - jax.vmap(lambda s, a: values(params, s, a))(seen.state, scaled)
        size = jnp.sqrt((targets**2).mean())
        return (errors**2).mean(0).sum(), (errors.mean(1), size)

    def of_actor(params):
        return -jax.vmap(lambda s: values(state.params, s, best(params, s)).mean())(
            rows[:, :N]
        ).mean()

    slope, (errors, size) = jax.jit(jax.grad(of_critics, has_aux=True))(state.params)
    slope = np.asarray(slope + jax.jit(jax.grad(of_actor))(state.params))
    after, reported, _ = update(sac, state, rows)
    np.testing.assert_allclose(reported, errors, rtol=1e-3, atol=1e-4)
    # Adam's first step is its step size in the direction of the sign of the slope.
    moved = np.asarray(after.params) - np.asarray(state.params)
    outputs = sac.are_outputs
    assert outputs.sum() == 3 * (7 + 1)
    for part in (np.arange(len(slope)) < len(actor), outputs, ~outputs):
        part[-1] = False
        clear = part & (np.abs(slope) > 1e-3 * np.abs(slope[part]).max())
        assert clear.sum() > 10
        step = 0.01 * np.where(outputs, size, 1.0)
        np.testing.assert_allclose(moved[clear], (-step * np.sign(slope))[clear], rtol=0.02)
    expected = state.target_params + 0.25 * (after.params - state.target_params)
    np.testing.assert_allclose(after.target_params, expected, rtol=1e-6)


def test_the_unit_of_rewards_changes_nothing_but_the_unit_of_values():
    sac, rows = make_sac(layer_norm=True), random_rows(5)
    unit = np.where(sac.are_outputs, 8.0, 1.0).astype(np.float32)
    state = scattered(sac, -1.0)
    other = eqx.tree_at(
        lambda s: (s.params, s.target_params),
        state,
        ((unit * state.params).at[-1].add(np.log(8.0)), unit * state.target_params),
    )
    for _ in range(3):
        state, *_ = update(sac, state, rows)
        other, *_ = update(sac, other, rows.at[:, -2].multiply(8.0))
    expected = (unit * state.params).at[-1].add(np.log(8.0))
    np.testing.assert_allclose(other.params, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("target_entropy", "direction"), [(50.0, 1), (-50.0, -1)])
def test_the_temperature_grows_while_the_entropy_is_below_its_target(target_entropy, direction):
    sac = make_sac(target_entropy=target_entropy)
    before = scattered(sac, -1.0)
    after, _, _ = update(sac, before, random_rows(2))
    temperature, new = (sac.metrics(state)["temperature"] for state in (before, after))
    assert np.sign(new - temperature) == direction


def test_targets_take_the_minimum_of_so_many_critics():
    states = jax.random.normal(jax.random.key(2), (400, N))
    many, all_of_them = make_sac(critics=6, subset=2), make_sac(critics=6, subset=6)
    state = scattered(many, -60.0)

    @jax.jit
    def both(key):
        return many.bootstrap(state, states, key), all_of_them.bootstrap(state, states, key)

    rows = [both(key) for key in jax.random.split(jax.random.key(0), 20)]
    of_two, of_all = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    assert (of_two >= of_all - 1e-5).all()
    # Each pair of six has the smallest one with probability 1/3.
    assert 0.1 < (of_two <= of_all + 1e-5).mean() < 0.6
    no_key = many.bootstrap(state, states)
    np.testing.assert_array_equal(no_key, many.bootstrap(state, states))


def test_planned_transitions_count_by_their_weights():
    sac, rows = make_sac(), random_rows(3)
    state, seen = scattered(sac, -2.0), jax.vmap(lambda row: Transition.unpack(row, 2))(rows)
    without = update(sac, state, rows)[0].params

    def planned(weight):
        states = seen.state[:4]
        return Planned(states, seen.action[:4], jnp.full(4, 9.0), jnp.full(4, weight))

    after, errors, _ = update(sac, state, rows, planned(0.0))
    assert errors.shape == (BATCH,)
    # The noise of the critics' targets is the same; the actor's is drawn for more states.
    first = len(without) - 3 * (6 * 7 + 7 + 1) + 0
    np.testing.assert_allclose(after.params[first:-1], without[first:-1], rtol=1e-4, atol=1e-6)
    assert np.abs(update(sac, state, rows, planned(1.0))[0].params - without).max() > 1e-3


def test_a_transition_that_is_not_usable_changes_nothing_but_the_actor():
    sac, rows = make_sac(), np.array(random_rows(4))
    state, usable = scattered(sac, -2.0), np.arange(BATCH) > 0
    rows[0, -2] = np.nan
    after, errors, _ = update(sac, state, rows, usable=usable)
    assert np.isnan(errors[0])
    assert np.isfinite(after.params).all()


def test_networks_of_scaled_observations_are_folded():
    sac = make_sac()
    params = scattered(sac, -1.0).params
    scale = ObservationScale(jnp.array([1.0, -2.0, 0.5]), jnp.array([3.0, 0.2, 1.0]))
    state, action = jnp.array([0.3, -1.9, 0.1]), jnp.array([1.0, 0.3])
    folded = scale.folded(params, sac)
    np.testing.assert_allclose(scale.unfolded(folded, sac), params, rtol=1e-4, atol=1e-5)
    for of in (sac.action_value, lambda p, s, a: sac.act(p, s, 0.0, jax.random.key(0))):
        np.testing.assert_allclose(
            of(folded, state, action), of(params, scale(state), action), rtol=1e-3, atol=1e-4
        )


def test_actions_are_within_the_bounds():
    sac = make_sac()
    params, state = scattered(sac, 0.0).params, jnp.zeros(N)
    act = jax.jit(jax.vmap(sac.act, in_axes=(None, None, None, 0)))
    keys = jax.random.split(jax.random.key(1), 2000)
    greedy, some, uniform = (np.asarray(act(params, state, e, keys)) for e in (0.0, 0.1, 1.0))
    assert (greedy == greedy[0]).all()
    assert (some.std(0) > 1e-3).all()
    for actions in (greedy, some, uniform):
        assert ((actions >= LOW - 1e-5) & (actions <= HIGH + 1e-5)).all()
    margin = 5 * (HIGH - LOW) / np.sqrt(12 * len(keys))  # a false alarm in a million
    assert (np.abs(uniform.mean(0) - (LOW + HIGH) / 2) < margin).all()


def test_a_subset_is_at_most_all():
    with pytest.raises(FreqdynaError, match="subset"):
        make_sac(critics=2, subset=3)
