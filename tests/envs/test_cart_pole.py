import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import FreqdynaError, envs

LIMITS = np.array([2.4, np.radians(12)])


@pytest.fixture
def theirs():
    return gymnasium.make("CartPole-v1")


def their_transitions(theirs, states, actions):
    """What Gymnasium makes of each state and action: its float64 states, rewards, terminals."""
    world = theirs.unwrapped
    outcomes = []
    for state, action in zip(states, actions, strict=True):
        world.state, world.steps_beyond_terminated = state.astype(np.float64), None
        _, reward, terminal, _, _ = world.step(action)
        outcomes.append((world.state, reward, terminal))
    return map(np.array, zip(*outcomes, strict=True))


def beside_a_limit(states):
    """Whether rounding may decide on which side of a limit a state lies."""
    return (np.abs(np.abs(states[:, [0, 2]]) - LIMITS) < 1e-6).any(1)


# Numbers of up to 5 are rounded to within 2.4e-7 in float32 and 4.4e-16 in float64, a few times.
@pytest.mark.default_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 4e-15)])
def test_agrees_with_gymnasium_over_10_000_random_transitions(theirs, dtype, tolerance):
    env = envs.make("CartPole-v1")
    generator = np.random.default_rng(0)
    most = [env.high[0], 5.0, env.high[2], 5.0]
    states = generator.uniform(-1, 1, (10_000, 4)) * most
    states[:5000, [0, 2]] /= 2  # half of them within the limits
    states = states.astype(np.float32).astype(dtype)
    actions = generator.integers(2, size=10_000)
    next_states, rewards, terminals = their_transitions(theirs, states, actions)
    with jax.enable_x64(dtype == np.float64):
        keys = jax.random.split(jax.random.key(0), 10_000)
        ours = jax.jit(jax.vmap(env.transition))(states, actions.astype(np.int32), keys)
        assert ours[0].dtype == dtype
        np.testing.assert_allclose(ours[0], next_states, rtol=0, atol=tolerance)
        np.testing.assert_array_equal(ours[1], rewards)
        clear = ~beside_a_limit(next_states)
        np.testing.assert_array_equal(ours[2][clear], terminals[clear])
    assert clear.sum() > 9990
    assert 1000 < terminals.sum() < 9000


# Whatever differs grows by e⁴ a second while the pole falls: some hundredfold in an episode.
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 5e-5), (np.float64, 1e-13)])
def test_whole_random_episodes_are_gymnasiums(theirs, dtype, tolerance):
    env = envs.make("CartPole-v1")
    actions = np.random.default_rng(0)
    with jax.enable_x64(dtype == np.float64):
        step = jax.jit(env.transition_from_noise)
        for seed in range(30):
            theirs.reset(seed=seed)
            state, over, total = jnp.asarray(theirs.unwrapped.state, dtype), False, 0.0
            length = 0
            while not over:
                action = int(actions.integers(2))
                _, their_reward, over, _, _ = theirs.step(action)
                state, reward, terminal = step(state, jnp.int32(action), jnp.zeros(1, dtype))
                np.testing.assert_allclose(state, theirs.unwrapped.state, rtol=0, atol=tolerance)
                assert (float(reward), bool(terminal)) == (their_reward, over)
                total, length = total + float(reward), length + 1
            assert total == length  # 1 a step, the last one included


def test_a_balanced_pole_is_cut_off_at_gymnasiums_time_limit_and_not_terminal(theirs):
    env = envs.make("CartPole-v1")
    step = jax.jit(env.transition_from_noise)
    observation, _ = theirs.reset(seed=0)
    balance = np.array([0.02, 0.1, 1.0, 0.3])
    outcomes = []
    for _ in range(env.episode_limit):
        action = int(balance @ observation > 0)
        # Each step from their observation: over 500 steps roundings would grow without limit.
        state, reward, terminal = step(jnp.asarray(observation), jnp.int32(action), jnp.zeros(1))
        observation, their_reward, over, cut, _ = theirs.step(action)
        np.testing.assert_allclose(state, observation, rtol=0, atol=1e-6)
        outcomes.append((float(reward), bool(terminal)))
        assert outcomes[-1] == (their_reward, over)
        assert cut == (len(outcomes) == env.episode_limit)
    assert outcomes == [(1.0, False)] * 500


def test_bounds_actions_and_time_limit_are_gymnasiums(theirs):
    env = envs.make("CartPole-v1")
    np.testing.assert_array_equal(env.low, theirs.observation_space.low)
    np.testing.assert_array_equal(env.high, theirs.observation_space.high)
    assert env.num_actions == theirs.action_space.n
    assert env.episode_limit == theirs.spec.max_episode_steps


def test_starts_are_uniform_in_a_small_box():
    env = envs.make("CartPole-v1")
    states = np.asarray(jax.vmap(env.reset)(jax.random.split(jax.random.key(1), 4000)))
    assert (np.abs(states) <= np.float32(0.05)).all()
    assert (states.min(0) < -0.0495).all()
    assert (states.max(0) > 0.0495).all()
    # Means, variances and covariances of four independent uniform coordinates. Six standard
    # errors of 14 numbers: a false alarm once in thirty million seeds.
    unit = states / 0.05
    np.testing.assert_allclose(unit.mean(0), 0, atol=6 * np.sqrt(1 / 3 / 4000))
    np.testing.assert_allclose(unit.T @ unit / 4000, np.eye(4) / 3, atol=6 / 3 / np.sqrt(4000))


def test_an_episode_ends_beyond_either_limit_on_either_side():
    env = envs.make("CartPole-v1")
    for sign in (-1, 1):
        for position, angle, over in ((2.41, 0, True), (0, 0.21, True), (2.39, 0.209, False)):
            state = sign * jnp.array([position, 0.0, angle, 0.0])
            assert bool(env.terminal(state)) is over
    assert not env.terminal(jnp.array([0.0, 100.0, 0.0, 100.0]))


def test_states_far_outside_the_limits_lead_to_finite_ones():
    env = envs.make("CartPole-v1")
    states = 1e6 * jax.random.normal(jax.random.key(0), (1000, 4))
    step = jax.vmap(env.transition_from_noise, in_axes=(0, None, None))
    for action in range(2):
        next_states, rewards, terminals = step(states, jnp.int32(action), jnp.zeros(1))
        assert jnp.isfinite(next_states).all()
        assert (rewards == 1).all()
        assert terminals.all()


def test_velocities_are_unbounded_and_there_is_no_goal():
    env = envs.make("CartPole-v1")
    assert env.contains(jnp.array([4.7, 1e6, -0.4, -1e6]))
    assert not env.contains(jnp.array([4.9, 0.0, 0.0, 0.0]))
    np.testing.assert_array_equal(
        env.project(jnp.array([5.0, 1e6, -1.0, -1e6])), [env.high[0], 1e6, env.low[2], -1e6]
    )
    with pytest.raises(FreqdynaError, match="unknown setting of CartPole-v1 'goal_reward'"):
        envs.make("CartPole-v1", goal_reward=0.0)
