import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import envs


@pytest.mark.default_compiler
def test_agrees_with_gymnasium_over_10_000_random_transitions():
    theirs = gymnasium.make("MountainCar-v0").unwrapped
    env = envs.make("MountainCar-v0")
    generator = np.random.default_rng(0)
    states = generator.uniform(env.low, env.high, (10_000, 2)).astype(np.float32)
    # The corners of the state space: against the left wall, and about to reach the goal.
    states[:500, 0] = env.low[0] + generator.uniform(0, 0.05, 500)
    states[500:1000, 0] = 0.5 - generator.uniform(0, 0.05, 500)
    actions = generator.integers(3, size=10_000).astype(np.int32)
    keys = jax.random.split(jax.random.key(0), 10_000)
    ours = jax.jit(jax.vmap(env.transition))(states, actions, keys)

    expected_states, expected_rewards, expected_terminals = [], [], []
    for state, action in zip(states, actions, strict=True):
        theirs.state = state.astype(np.float64)
        next_state, reward, terminal, _, _ = theirs.step(action)
        expected_states.append(next_state)
        expected_rewards.append(reward)
        expected_terminals.append(terminal)

    np.testing.assert_allclose(ours[0], np.array(expected_states), rtol=0, atol=3e-7)
    np.testing.assert_array_equal(ours[1], expected_rewards)
    np.testing.assert_array_equal(ours[2], expected_terminals)
    assert np.sum(expected_terminals) > 100
    assert np.sum(np.array(expected_states)[:, 0] == np.float32(-1.2)) > 100


def test_bounds_and_actions_are_gymnasiums():
    theirs = gymnasium.make("MountainCar-v0")
    env = envs.make("MountainCar-v0")
    np.testing.assert_array_equal(env.low, theirs.observation_space.low)
    np.testing.assert_array_equal(env.high, theirs.observation_space.high)
    assert env.num_actions == theirs.action_space.n


def test_starts_at_rest_in_the_valley():
    env = envs.make("MountainCar-v0")
    states = jax.vmap(env.reset)(jax.random.split(jax.random.key(1), 2000))
    assert np.all(states[:, 1] == 0)
    assert -0.6 <= states[:, 0].min() < -0.595
    assert -0.405 < states[:, 0].max() <= -0.4


def test_goal_reward_is_a_setting():
    env = envs.make("MountainCar-v0", goal_reward=1.0)
    near_goal, valley = jnp.array([0.49, 0.05]), jnp.array([-0.5, 0.0])
    key, right = jax.random.key(0), jnp.int32(2)
    assert env.transition(near_goal, right, key)[1] == 1
    assert env.transition(valley, right, key)[1] == -1
