from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Probe, agent_of

from freqdyna import envs
from freqdyna.agents.dyna.scale import ObservationScale
from freqdyna.agents.dyna.state import Visited
from freqdyna.agents.learners import DQN
from freqdyna.agents.models import Learned

EDGE = np.array([-1e-3, 1e-3])
LOW, HIGH = jnp.array([-1.2, 100.0]), jnp.array([0.6, 400.0])


class Road(Probe):
    """Drive 0.2 to the left or right until the end of a road."""

    name: ClassVar[str] = "Road"
    centre: ClassVar[float] = 0.0
    half: ClassVar[float] = 1.0
    episode_limit: int = 20

    def reset(self, key):
        return jnp.array([self.centre - 0.2 * self.half])

    def move(self, state, action, noise):
        return jnp.clip(state + self.half * (0.4 * action - 0.2), self.low, self.high)

    def terminal(self, state):
        return state[0] >= self.centre + 0.99 * self.half

    def reward(self, state, action, next_state):
        return -jnp.ones(())


class LongRoad(Road):
    """The same road, observed in other units."""

    name: ClassVar[str] = "LongRoad"
    centre: ClassVar[float] = 250.0
    half: ClassVar[float] = 150.0
    low: ClassVar[np.ndarray] = np.array([100.0], np.float32)
    high: ClassVar[np.ndarray] = np.array([400.0], np.float32)


def statistics(states):
    visited, add = Visited.empty(states.shape[1]), jax.jit(Visited.add)
    for state in jnp.asarray(states, jnp.float32):
        visited = add(visited, state, state)
    return visited


def scale_of(low, high, visited):
    class Box(Probe):
        name: ClassVar[str] = "Box"

    Box.low, Box.high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    return ObservationScale.of(Box(), visited)


def test_known_bounds_become_plus_and_minus_one():
    visited = statistics(np.linspace(LOW, HIGH, 9))
    scale = scale_of(LOW, HIGH, visited)
    np.testing.assert_allclose(scale(LOW), [-1, -1], rtol=1e-6)
    np.testing.assert_allclose(scale(HIGH), [1, 1], rtol=1e-6)
    middle = (LOW + HIGH) / 2
    np.testing.assert_allclose(scale(middle), [0, 0], atol=1e-6)
    before = scale_of(LOW, HIGH, Visited.empty(2))
    np.testing.assert_array_equal([before.centre, before.half], [scale.centre, scale.half])
    no_range = scale_of([2.0], [2.0], statistics(np.full((3, 1), 2.0)))
    np.testing.assert_allclose(no_range(jnp.array([3.0])), [1.0])


def test_bounds_that_are_far_too_wide_do_not_matter():
    seen = np.random.default_rng(0).uniform([10.0, 0.3], [30.0, 0.4], (50, 2))
    visited, reach = statistics(seen), np.ptp(seen, axis=0) / 2
    for bound in (1e3, 1e4, 1e5):
        scale = scale_of([-bound, -bound], [bound, bound], visited)
        np.testing.assert_allclose(scale.half, 10 * reach, rtol=1e-4)
        assert (np.abs(scale(jnp.asarray(seen, jnp.float32))) <= 0.3).all()
    # It changes without a jump where the box begins to be too wide.
    narrow, wide = (scale_of([20.0 - b, 0], [20.0 + b, 1], visited) for b in reach[0] * (10 + EDGE))
    np.testing.assert_allclose(narrow.half, wide.half, rtol=1e-3)
    np.testing.assert_allclose(narrow.centre, wide.centre, rtol=1e-3)


def test_coordinates_without_bounds_are_scaled_by_what_was_visited():
    seen = np.random.default_rng(0).normal([5.0, 7.0, 3.0], [2.0, 0.5, 0.0], (50, 3))
    visited = statistics(seen)
    scale = scale_of([0.0, -np.inf, -np.inf], [10.0, np.inf, 8.0], visited)
    np.testing.assert_allclose(scale.centre, [5.0, seen[:, 1].mean(), 3.0], rtol=1e-5)
    # The third does not vary, so that it is not divided by its deviation.
    np.testing.assert_allclose(scale.half, [5.0, seen[:, 1].std(ddof=1), 1.0], rtol=1e-4)
    before = scale_of([-np.inf], [np.inf], Visited.empty(1))
    np.testing.assert_array_equal(before(jnp.array([3.0])), [3.0])


def test_a_folded_network_is_the_network_of_scaled_observations():
    env = envs.make("MountainCar-v0")
    learner, scale = DQN(hidden=(5, 4)).bind(env), ObservationScale.of(env, Visited.empty(2))

    @jax.jit
    def both(key):
        rows = jax.random.uniform(key, (20, 2), minval=env.low, maxval=env.high)
        params = jax.random.normal(key, learner.init(key).params.shape)
        folded = learner.network(scale.folded(params, learner))
        expected = jax.vmap(learner.network(params))(scale(rows))
        packed = jnp.concatenate([rows, rows[::-1], jnp.ones((20, 3))], axis=1)
        return jax.vmap(folded)(rows), expected, scale(rows), scale.of_rows(packed)

    folded, expected, scaled, packed = both(jax.random.key(0))
    np.testing.assert_allclose(folded, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(packed, np.hstack([scaled, scaled[::-1], np.ones((20, 3))]))


@pytest.mark.slow
def test_an_environment_and_its_scaled_twin_are_learned_alike():
    # While actions are random, both see the same transitions, and the networks are the same up to
    # rounding: that of the agent is a function of the observations themselves.
    settings = {"warmup_steps": 150, "learn_in_warmup": True, "learner.learning_rate": 0.005}
    settings |= {"learner.hidden": (8,), "learner.target_period": 50, "learner.discount": 0.9}
    settings |= {"acting_network": "online"}
    places = jnp.linspace(-1, 1, 20)[:, None]

    def values(env, scaled, inputs):
        agent = agent_of(env, scale_observations=scaled, **settings)

        @jax.jit
        def after(key):
            steps = jax.lax.fori_loop(0, 100, lambda t, s: agent.step(s, t), agent.init(key))
            return jax.vmap(agent.learner.network(agent.parameters(steps)))(inputs)

        return np.asarray(after(jax.random.key(0)))

    ours = values(LongRoad(), True, 250 + 150 * places)
    twin = values(Road(), False, places)
    spread = np.ptp(twin)
    assert spread > 0.05
    np.testing.assert_allclose(ours, twin, atol=0.01 * spread)


@pytest.mark.slow
def test_the_networks_of_learned_models_see_scaled_observations(monkeypatch):
    predict, seen = Learned.predict, []

    def record(self, *arguments):
        seen.append(self.scale is not None)
        return predict(self, *arguments)

    monkeypatch.setattr(Learned, "predict", record)
    agent = agent_of(envs.make("MountainCar-v0"), "dyna-uniform", model="learned")
    jax.eval_shape(agent.dry_step, jax.random.key(0))
    assert len(seen) >= 3  # the error, the update and the simulation
    assert all(seen)
