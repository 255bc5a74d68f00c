"""What holds for every built-in environment."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import FreqdynaError, envs

SMALLER = [f"TubeGridWorld-{n}" for n in (2, 3, 4, 6)]
"""These have the code of TubeGridWorld-8."""
NAMES = [name for name in envs.ENVIRONMENTS if name not in SMALLER]


def random_action(env, key):
    if env.num_actions:
        return jax.random.randint(key, (), 0, env.num_actions)
    return jax.random.uniform(
        key, env.action_low.shape, minval=env.action_low, maxval=env.action_high
    )


@pytest.mark.parametrize("name", ["GridWorld", "Pendulum-v1"])
def test_reward_noise_has_the_stated_mean_and_deviation(name):
    quiet, noisy = envs.make(name), envs.make(name, reward_noise=0.1)
    keys = jax.random.split(jax.random.key(1), 20_000)

    @jax.jit
    @jax.vmap
    def step(key):
        state, action = quiet.reset(jax.random.key(0)), random_action(quiet, jax.random.key(0))
        return quiet.transition(state, action, key), noisy.transition(state, action, key)

    (quiet_states, quiet_rewards, _), (states, rewards, _) = step(keys)
    noise = np.asarray(rewards) - np.asarray(quiet_rewards)
    # Five standard errors: a false alarm once in a million runs.
    assert abs(noise.mean()) < 5 * 0.1 / np.sqrt(20_000)
    assert abs(noise.std() - 0.1) < 5 * 0.1 / np.sqrt(2 * 20_000)
    np.testing.assert_array_equal(states, quiet_states)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_random_walks_stay_in_the_state_space_and_states_in_it_are_their_own_projection(name):
    env = envs.make(name)

    def walk(key):
        def step(state, key):
            act_key, env_key = jax.random.split(key)
            state, _, terminal = env.transition(state, random_action(env, act_key), env_key)
            return jnp.where(terminal, env.reset(env_key), state), state

        states = jax.lax.scan(step, env.reset(key), jax.random.split(key, 500))[1]
        return states, jax.vmap(env.contains)(states), jax.vmap(env.project)(states)

    walks = jax.jit(jax.vmap(walk))(jax.random.split(jax.random.key(2), 64))
    states, contained, projected = map(np.asarray, walks)
    assert contained.all()
    # These divide by lengths that are 1 to two roundings, of 6e-8 each.
    atol = 2e-7 if name in ("Acrobot-v1", "Pendulum-v1") else 0
    np.testing.assert_allclose(projected, states, rtol=0, atol=atol)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("MountainCar-v0", "goal_reward", float("nan")),
        ("GridWorld", "collision", "none"),
        ("GridWorld", "episode_limit", 0),
        ("MazeGrid", "episode_limit", 5),
    ],
)
def test_unknown_names_and_bad_settings_are_refused(name, setting, value):
    with pytest.raises(FreqdynaError, match=setting if name in envs.ENVIRONMENTS else name):
        envs.make(name, **{setting: value})


@pytest.mark.parametrize(
    ("number", "low", "high"),
    [(0, [], []), (0, [-1.0], [np.inf]), (0, [1.0], [1.0]), (2, [0], [1])],
)
def test_actions_must_be_discrete_or_have_bounds(number, low, high):
    class Odd(envs.Pendulum):
        num_actions = number
        action_low, action_high = np.array(low), np.array(high)

    with pytest.raises(FreqdynaError, match="num_actions"):
        Odd()
