import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import envs


@pytest.fixture
def theirs():
    return gymnasium.make("Acrobot-v1")


def observed(motions):
    """The observations of angles and velocities in float64; Gymnasium's own are in float32."""
    angles, speeds = motions[..., :2], motions[..., 2:]
    pairs = np.stack([np.cos(angles), np.sin(angles)], -1)
    return np.concatenate([pairs.reshape(*motions.shape[:-1], 4), speeds], -1)


def height(motions):
    """How far the free end is above the fixed one; the goal is at 1."""
    return -np.cos(motions[..., 0]) - np.cos(motions[..., 0] + motions[..., 1])


def differences(theirs, dtype, share):
    """Ours less theirs after 5,000 random transitions, at up to a share of the greatest speeds.

    Rewards and terminals are compared here, but for next states so near the height of the goal
    that rounding decides.
    """
    env = envs.make("Acrobot-v1")
    generator = np.random.default_rng(0)
    most = [np.pi, np.pi, *(share * env.high[4:])]
    states = observed(generator.uniform(-1, 1, (5000, 4)) * most).astype(dtype)
    actions = generator.integers(3, size=5000)
    # The angles of the state as it is rounded, so that both begin from the same one.
    cos_1, sin_1, cos_2, sin_2, *speeds = states.astype(np.float64).T
    motions = np.stack([np.arctan2(sin_1, cos_1), np.arctan2(sin_2, cos_2), *speeds], -1)

    world = theirs.unwrapped
    outcomes = []
    for motion, action in zip(motions, actions, strict=True):
        world.state = motion
        _, reward, terminal, _, _ = world.step(action)
        outcomes.append((world.state, reward, terminal))
    next_motions, rewards, terminals = map(np.array, zip(*outcomes, strict=True))
    clear = np.abs(height(next_motions) - 1) > 1e-4
    assert clear.sum() > 4990
    assert 500 < terminals.sum() < 4500

    with jax.enable_x64(dtype == np.float64):
        keys = jax.random.split(jax.random.key(0), 5000)
        ours = jax.jit(jax.vmap(env.transition))(states, actions.astype(np.int32), keys)
        assert ours[0].dtype == dtype
        np.testing.assert_array_equal(ours[1][clear], rewards[clear])
        np.testing.assert_array_equal(ours[2][clear], terminals[clear])
        return np.abs(np.asarray(ours[0]) - observed(next_motions))


# A few roundings of numbers of up to 8.5, of 5e-7 each in float32 and 9e-16 in float64.
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 5e-6), (np.float64, 2e-14)])
def test_agrees_with_gymnasium_over_random_transitions(theirs, dtype, tolerance):
    assert differences(theirs, dtype, share=0.3).max() < tolerance


def test_agrees_with_gymnasium_in_float64_at_the_greatest_speeds_too(theirs):
    difference = differences(theirs, np.float64, share=1.0)
    assert difference[:, :4].max() < 1e-12
    # Our bounds of the speeds are Gymnasium's rounded to float32, to within 1e-6.
    assert difference[:, 4:].max() < 1e-6


def test_in_float32_differs_at_the_greatest_speeds_by_what_a_rounded_state_makes_of_a_step(theirs):
    # One Runge-Kutta step then goes round several times: Gymnasium's own next speed changes by
    # up to 0.02 when the state changes by one rounding.
    difference = differences(theirs, np.float32, share=1.0)
    assert difference[:, :4].max() < 1e-4
    assert difference[:, 4:].max() < 0.1
    assert np.quantile(difference.max(1), 0.99) < 1e-4


def at_random(generator, motion):
    return int(generator.integers(3))


def swing_up(generator, motion):
    """A torque in the direction in which the joint turns feeds energy into the swing."""
    return 2 if motion[3] > 0 else 0


# Motion is chaotic: over 500 steps roundings grow some hundred times, ten times more on the way up.
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-2), (np.float64, 1e-10)])
@pytest.mark.parametrize("policy", [at_random, swing_up])
def test_whole_episodes_are_gymnasiums(theirs, policy, dtype, tolerance):
    env = envs.make("Acrobot-v1")
    generator = np.random.default_rng(0)
    with jax.enable_x64(dtype == np.float64):
        step = jax.jit(env.transition_from_noise)
        for seed in range(2):
            theirs.reset(seed=seed)
            motion = theirs.unwrapped.state.astype(np.float64)
            state = jnp.asarray(observed(motion), dtype)
            rewards, over, cut = [], False, False
            while not (over or cut):
                action = policy(generator, motion)
                _, their_reward, over, cut, _ = theirs.step(action)
                motion = theirs.unwrapped.state
                state, reward, terminal = step(state, jnp.int32(action), jnp.zeros(1, dtype))
                np.testing.assert_allclose(state, observed(motion), rtol=0, atol=tolerance)
                assert (float(reward), bool(terminal)) == (their_reward, over)
                rewards.append(float(reward))
            if policy is swing_up:
                assert over
                assert rewards == [-1.0] * (len(rewards) - 1) + [0.0]
            else:
                assert (over, cut) == (False, True)
                assert rewards == [-1.0] * env.episode_limit


def test_bounds_actions_and_time_limit_are_gymnasiums(theirs):
    env = envs.make("Acrobot-v1")
    np.testing.assert_array_equal(env.low, theirs.observation_space.low)
    np.testing.assert_array_equal(env.high, theirs.observation_space.high)
    assert env.num_actions == theirs.action_space.n
    assert env.episode_limit == theirs.spec.max_episode_steps == 500


def test_starts_hang_nearly_at_rest():
    env = envs.make("Acrobot-v1")
    states = np.asarray(jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(1), 4000)))
    motions = np.stack([*np.arctan2(states[:, [1, 3]], states[:, [0, 2]]).T, *states[:, 4:].T], -1)
    assert (np.abs(motions) <= 0.1 + 1e-7).all()
    assert (motions.min(0) < -0.099).all()
    assert (motions.max(0) > 0.099).all()
    # Means, variances and covariances of four independent uniform numbers. Six standard errors
    # of 14 numbers: a false alarm once in thirty million seeds.
    unit = motions / 0.1
    np.testing.assert_allclose(unit.mean(0), 0, atol=6 * np.sqrt(1 / 3 / 4000))
    np.testing.assert_allclose(unit.T @ unit / 4000, np.eye(4) / 3, atol=6 / 3 / np.sqrt(4000))


def test_an_episode_ends_when_the_free_end_is_one_link_above_the_fixed_one():
    terminal = jax.jit(envs.make("Acrobot-v1").terminal)
    third = 2 * np.pi / 3
    for motion, over in (
        ((np.pi, 0.0), True),  # both links upright
        ((np.pi, np.pi), False),  # folded back to the fixed end
        ((0.0, np.pi), False),
        ((third + 0.01, 0.0), True),  # a straight line at the height of 1
        ((third - 0.01, 0.0), False),
        ((-third - 0.01, 0.0), True),
        ((np.pi, np.pi / 2 - 0.01), True),  # the second link nearly level
        ((np.pi, np.pi / 2 + 0.01), False),
    ):
        state = observed(np.array([*motion, 0.0, 0.0])).astype(np.float32)
        assert bool(terminal(state)) is over


def test_goal_reward_is_a_setting():
    env = envs.make("Acrobot-v1", goal_reward=5.0)
    up, down = jnp.array([-1.0, 0, 1, 0, 0, 0]), jnp.array([1.0, 0, 1, 0, 0, 0])
    step = jax.jit(env.transition)
    key, action = jax.random.key(0), jnp.int32(1)
    assert step(up, action, key)[1] == 5
    assert step(down, action, key)[1] == -1


def test_any_observation_is_moved_as_the_one_nearest_to_it_that_has_angles():
    env = envs.make("Acrobot-v1")
    states = jax.random.uniform(jax.random.key(0), (500, 6), minval=-2, maxval=2)
    move = jax.jit(jax.vmap(lambda state: env.move(state, jnp.int32(2), jnp.zeros(0))))
    nearest = jax.jit(jax.vmap(env.on_manifold))(states)
    np.testing.assert_allclose(move(states), move(nearest), rtol=0, atol=5e-6)


def test_speeds_far_outside_the_bounds_lead_to_finite_states_within_them():
    env = envs.make("Acrobot-v1")
    states = 10 * env.high * np.asarray(jax.random.normal(jax.random.key(0), (1000, 6)))

    @jax.jit
    def inside(action):
        moved = jax.vmap(env.move, in_axes=(0, None, None))(states, action, jnp.zeros(0))
        return jax.vmap(env.contains)(moved)

    for action in range(3):
        assert np.all(inside(jnp.int32(action)))


def test_projection_gives_pairs_of_length_1_and_bounded_speeds():
    env = envs.make("Acrobot-v1")
    scale = np.float32(10.0 ** np.linspace(-2, 5, 5000)[:, None])
    states = scale * np.asarray(jax.random.normal(jax.random.key(0), (5000, 6)))

    @jax.jit
    @jax.vmap
    def moved(state):
        projected = env.project(state)
        return env.on_manifold(state), projected, env.contains(projected)

    on_circles, projected, contained = map(np.asarray, moved(states))
    for found in (on_circles, projected):
        lengths = np.linalg.norm(np.asarray(found)[:, :4].reshape(-1, 2, 2), axis=-1)
        np.testing.assert_allclose(lengths, 1, rtol=0, atol=2e-7)
    np.testing.assert_array_equal(on_circles[:, 4:], states[:, 4:])
    np.testing.assert_array_equal(
        projected[:, 4:], np.clip(states[:, 4:], env.low[4:], env.high[4:])
    )
    assert contained.all()
    directions = np.sum((on_circles * states)[:, :4].reshape(-1, 2, 2), axis=-1)
    lengths = np.linalg.norm(states[:, :4].reshape(-1, 2, 2), axis=-1)
    np.testing.assert_allclose(directions, lengths, rtol=5e-7)


def test_states_on_the_manifold_are_their_own_projection_to_rounding():
    env = envs.make("Acrobot-v1")
    motions = np.random.default_rng(0).uniform(-1, 1, (5000, 4)) * [np.pi, np.pi, 12.0, 28.0]
    states = observed(motions).astype(np.float32)
    for project in (env.on_manifold, env.project):
        # A length is 1 to two roundings, of 6e-8 each.
        np.testing.assert_allclose(jax.jit(jax.vmap(project))(states), states, rtol=0, atol=2e-7)


def test_a_pair_without_a_direction_hangs():
    env = envs.make("Acrobot-v1")
    state = jnp.array([0.0, 0.0, 1e-8, -1e-8, 3.0, -4.0])
    np.testing.assert_array_equal(jax.jit(env.on_manifold)(state), [1, 0, 1, 0, 3, -4])
    assert np.isfinite(jax.jit(env.move)(state, jnp.int32(0), jnp.zeros(0))).all()
