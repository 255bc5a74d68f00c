"""The four environments that Gymnasium has as well, side by side with Gymnasium's."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import envs

ANGLES = {"MountainCar-v0": 0, "CartPole-v1": 0, "Acrobot-v1": 2, "Pendulum-v1": 1}
"""How many angles are observed as cosine and sine."""


def observed(name, motions):
    """The states of Gymnasium's inner states, in float64; its own observations are in float32."""
    angles, others = np.split(motions, [ANGLES[name]], axis=-1)
    pairs = np.stack([np.cos(angles), np.sin(angles)], -1)
    return np.concatenate([pairs.reshape(*angles.shape[:-1], -1), others], -1)


def motions_of(name, states):
    """Gymnasium's inner states, of which these are the observations."""
    pairs, others = np.split(np.asarray(states, np.float64), [2 * ANGLES[name]], axis=-1)
    pairs = pairs.reshape(*pairs.shape[:-1], -1, 2)
    return np.concatenate([np.arctan2(pairs[..., 1], pairs[..., 0]), others], -1)


def random_actions(env, count, generator):
    if env.num_actions:
        return generator.integers(env.num_actions, size=count).astype(np.int32)
    return generator.uniform(-3, 3, (count, 1))  # a third is clipped


# Tolerances are a few roundings of the greatest numbers; our bounds are float32.
@pytest.mark.parametrize(
    ("name", "dtype", "most", "tolerance"),
    [
        pytest.param(
            *("MountainCar-v0", np.float32, [1.2, 0.07], 3e-7), marks=pytest.mark.default_compiler
        ),
        ("CartPole-v1", np.float64, [4.8, 5.0, 0.4, 5.0], 1e-13),
        # At high speeds one Runge-Kutta step goes round several times: roundings grow.
        ("Acrobot-v1", np.float32, [np.pi, np.pi, 4.0, 8.0], 5e-6),
        ("Acrobot-v1", np.float64, [np.pi, np.pi, 4.0, 8.0], 1e-12),
        ("Pendulum-v1", np.float64, [np.pi, 8.0], 1e-12),
    ],
)
def test_random_transitions_are_gymnasiums(name, dtype, most, tolerance):
    env, world, count = envs.make(name), gymnasium.make(name).unwrapped, 5000
    generator = np.random.default_rng(0)
    states = observed(name, generator.uniform(-1, 1, (count, len(most))) * most).astype(dtype)
    states = np.clip(states, env.low.astype(dtype), env.high.astype(dtype))
    actions = random_actions(env, count, generator)
    world.reset(seed=0)
    outcomes = []
    # From the states as they are rounded, so that both begin from the same one.
    for motion, action in zip(motions_of(name, states), actions, strict=True):
        world.state, world.steps_beyond_terminated = motion, None
        _, reward, terminal, _, _ = world.step(action)
        outcomes.append((np.array(world.state), reward, terminal))
    next_motions, rewards, terminals = map(np.array, zip(*outcomes, strict=True))
    with jax.enable_x64(dtype == np.float64):
        step = jax.jit(jax.vmap(env.transition, (0, 0, None)))
        ours = step(states, jnp.asarray(actions), jax.random.key(0))
        assert ours[0].dtype == dtype
        ours = [np.asarray(array) for array in ours]
    np.testing.assert_allclose(ours[0], observed(name, next_motions), rtol=0, atol=tolerance)
    same = ours[2] == terminals
    assert (~same).sum() <= (dtype == np.float32)  # rounding may decide at the edge of the goal
    np.testing.assert_allclose(ours[1][same], rewards[same], rtol=0, atol=tolerance)
    if name != "Pendulum-v1":  # no state of which is terminal
        assert 0.02 < terminals.mean() < 0.98


def at_random(generator, motion):
    return generator.integers(2)


def swing(generator, motion):
    """Push in the direction of the last velocity, which feeds energy into the motion."""
    return 2 if motion[-1] > 0 else 0


def spin(generator, motion):
    return np.array([2.0 if motion[-1] > 0 else -2.0])


@pytest.mark.parametrize(
    ("name", "policy", "ends"),
    [
        ("MountainCar-v0", swing, True),
        ("CartPole-v1", at_random, True),
        ("Acrobot-v1", swing, True),
        ("Pendulum-v1", spin, False),
    ],
)
def test_whole_episodes_are_gymnasiums(name, policy, ends):
    env, theirs = envs.make(name), gymnasium.make(name)
    generator = np.random.default_rng(0)
    theirs.reset(seed=0)
    motions, taken = [np.array(theirs.unwrapped.state, np.float64)], []
    over = cut = False
    while not (over or cut):
        action = policy(generator, motions[-1])
        _, reward, over, cut, _ = theirs.step(action)
        motions.append(np.array(theirs.unwrapped.state))
        taken.append((action, reward, over))
    assert over is ends
    actions, rewards, terminals = map(np.array, zip(*taken, strict=True))
    states = observed(name, np.array(motions))

    def step(state, action):
        outcome = env.transition_from_noise(state, action, jnp.zeros(1))
        return outcome[0], outcome

    with jax.enable_x64(True):  # in float32, the motion soon depends on roundings
        ours = jax.jit(lambda s, a: jax.lax.scan(step, s, a)[1])(states[0], actions)
        ours = [np.asarray(array) for array in ours]
    np.testing.assert_allclose(ours[0], states[1:], rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours[1], rewards, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(ours[2], terminals)


@pytest.mark.parametrize("name", ANGLES)
def test_bounds_actions_and_time_limit_are_gymnasiums(name):
    env, theirs = envs.make(name), gymnasium.make(name)
    np.testing.assert_array_equal(env.low, theirs.observation_space.low)
    np.testing.assert_array_equal(env.high, theirs.observation_space.high)
    if env.num_actions:
        assert env.num_actions == theirs.action_space.n
    else:
        np.testing.assert_array_equal(env.action_low, theirs.action_space.low)
        np.testing.assert_array_equal(env.action_high, theirs.action_space.high)
    # The paper's limit of MountainCar is not Gymnasium's.
    limit = 2000 if name == "MountainCar-v0" else theirs.spec.max_episode_steps
    assert env.episode_limit == limit


@pytest.mark.parametrize(
    ("name", "center", "half"),
    [
        ("MountainCar-v0", [-0.5, 0.0], [0.1, 0.0]),
        ("CartPole-v1", [0.0] * 4, [0.05] * 4),
        ("Acrobot-v1", [0.0] * 4, [0.1] * 4),
        ("Pendulum-v1", [0.0] * 2, [np.pi, 1.0]),
    ],
)
def test_starts_are_uniform_in_gymnasiums_box(name, center, half):
    env, center, half = envs.make(name), np.array(center), np.array(half)
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(1), 4000))
    away, varies = motions_of(name, states) - center, half > 0
    assert (away[:, ~varies] == 0).all()
    unit = away[:, varies] / half[varies]
    assert (np.abs(unit) <= 1 + 1e-5).all()
    # With 4,000 draws, each of these is false once in e²⁰ seeds.
    assert (unit.min(0) < -0.99).all()
    assert (unit.max(0) > 0.99).all()
    # Means, variances and covariances of independent uniform numbers. Six standard errors of at
    # most 14 numbers: a false alarm once in thirty million seeds.
    np.testing.assert_allclose(unit.mean(0), 0, atol=6 * np.sqrt(1 / 3 / 4000))
    covariance = np.eye(varies.sum()) / 3
    np.testing.assert_allclose(unit.T @ unit / 4000, covariance, atol=6 / 3 / np.sqrt(4000))


def test_goal_reward_is_a_setting():
    step = jax.jit(envs.make("MountainCar-v0", goal_reward=5.0).transition)
    for state, reward in (([0.49, 0.05], 5), ([-0.5, 0.0], -1)):
        assert step(jnp.array(state), jnp.int32(2), jax.random.key(0))[1] == reward


def test_gravity_of_the_pendulum_is_a_setting_as_it_is_in_gymnasium():
    state, action = jnp.array([0.0, 1.0, 2.0]), jnp.array([1.0])
    world = gymnasium.make("Pendulum-v1", g=3.0).unwrapped
    world.state, world.last_u = np.array([np.pi / 2, 2.0]), None
    expected = world.step(np.array([1.0]))[0]
    ours = envs.make("Pendulum-v1", g=3.0).move(state, action, jnp.zeros(0))
    np.testing.assert_allclose(ours, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["Acrobot-v1", "Pendulum-v1"])
def test_projection_gives_pairs_of_length_1_and_bounded_speeds(name):
    env, n = envs.make(name), 2 * ANGLES[name]
    scale = np.float32(10.0 ** np.linspace(-2, 5, 5000)[:, None])
    states = scale * np.asarray(jax.random.normal(jax.random.key(0), (5000, len(env.low))))

    @jax.jit
    @jax.vmap
    def moved(state):
        projected = env.project(state)
        return env.on_manifold(state), projected, env.contains(projected)

    on_circles, projected, contained = map(np.asarray, moved(states))
    assert contained.all()
    for pairs in (on_circles[:, :n], projected[:, :n]):
        lengths = np.linalg.norm(pairs.reshape(5000, -1, 2), axis=-1)
        np.testing.assert_allclose(lengths, 1, rtol=0, atol=5e-7)
    np.testing.assert_array_equal(on_circles[:, n:], states[:, n:])
    np.testing.assert_array_equal(projected[:, n:], np.clip(states, env.low, env.high)[:, n:])
    directions = (on_circles * states)[:, :n].reshape(5000, -1, 2).sum(-1)
    lengths = np.linalg.norm(states[:, :n].reshape(5000, -1, 2), axis=-1)
    np.testing.assert_allclose(directions, lengths, rtol=1e-6)


@pytest.mark.parametrize("name", ["Acrobot-v1", "Pendulum-v1"])
def test_any_observation_is_moved_as_the_nearest_one_that_has_angles(name):
    env = envs.make(name)
    action = jnp.int32(2) if env.num_actions else jnp.array([1.0])
    states = jax.random.uniform(jax.random.key(0), (500, len(env.low)), minval=-2, maxval=2)
    move = jax.jit(jax.vmap(lambda state: env.move(state, action, jnp.zeros(0))))
    nearest = jax.jit(jax.vmap(env.on_manifold))(states)
    np.testing.assert_allclose(move(states), move(nearest), rtol=1e-6, atol=5e-6)


def test_a_pair_without_a_direction_has_the_angle_0():
    env = envs.make("Acrobot-v1")
    state = jnp.array([0.0, 0.0, 1e-8, -1e-8, 3.0, -4.0])
    np.testing.assert_array_equal(jax.jit(env.on_manifold)(state), [1, 0, 1, 0, 3, -4])
    assert np.isfinite(jax.jit(env.move)(state, jnp.int32(0), jnp.zeros(0))).all()


@pytest.mark.parametrize("name", ["CartPole-v1", "Acrobot-v1"])
def test_states_far_outside_lead_to_finite_ones(name):
    env = envs.make(name)
    scale = np.where(np.isfinite(env.high), 10 * env.high, 1e6).astype(np.float32)
    states = scale * jax.random.normal(jax.random.key(0), (1000, len(scale)))
    move = jax.jit(jax.vmap(env.move, (0, None, None)))
    assert np.isfinite(move(states, jnp.int32(0), jnp.zeros(0))).all()
