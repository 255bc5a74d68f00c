import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import SMALL

import freqdyna
from freqdyna import Config, FreqdynaError, envs
from freqdyna.envs.gym import factory_of
from freqdyna.envs.names import named_environment
from freqdyna.training.api import prepare

TINY = SMALL | {"env": "Pendulum-v1", "progress": False}
"""A run that takes seconds."""


@pytest.fixture
def theirs():
    return gymnasium.make("Pendulum-v1")


def observed(motions):
    """The observations of angles and speeds in float64; Gymnasium's own are in float32."""
    angles, speeds = motions[..., 0], motions[..., 1]
    return np.stack([np.cos(angles), np.sin(angles), speeds], -1)


def outcomes(world, motions, actions):
    """Gymnasium's next observations and rewards."""
    found = []
    for motion, action in zip(motions, actions, strict=True):
        world.state = motion
        _, reward, terminal, truncated, _ = world.step(action)
        assert not terminal
        assert not truncated
        found.append((observed(world.state), reward))
    return map(np.array, zip(*found, strict=True))


# Speeds are at most 8 and rewards at least -16.3, where a rounding of float32 is 5e-7 and 1e-6.
@pytest.mark.parametrize(
    ("dtype", "of_states", "of_rewards"), [(np.float32, 5e-6, 1e-5), (np.float64, 1e-12, 1e-12)]
)
@pytest.mark.parametrize("g", [10.0, 3.0])
def test_transitions_are_gymnasiums(g, dtype, of_states, of_rewards):
    env, theirs = envs.make("Pendulum-v1", g=g), gymnasium.make("Pendulum-v1", g=g)
    generator = np.random.default_rng(0)
    states = observed(generator.uniform(-1, 1, (5000, 2)) * [np.pi, 8]).astype(dtype)
    actions = generator.uniform(-3, 3, (5000, 1)).astype(dtype)  # a third is clipped
    # The angles of the state as it is rounded, so that both begin from the same one.
    cos, sin, speeds = states.astype(np.float64).T
    motions = np.stack([np.arctan2(sin, cos), speeds], -1)
    next_states, rewards = outcomes(theirs.unwrapped, motions, actions)
    with jax.enable_x64(dtype == np.float64):
        keys = jax.random.split(jax.random.key(0), 5000)
        ours = jax.jit(jax.vmap(env.transition))(states, actions, keys)
        assert ours[0].dtype == ours[1].dtype == dtype
    np.testing.assert_allclose(ours[0], next_states, rtol=0, atol=of_states)
    np.testing.assert_allclose(ours[1], rewards, rtol=0, atol=of_rewards)
    assert not ours[2].any()
    assert (np.abs(next_states[:, 2]) == 8).sum() > 50  # at the greatest speed


def at_random(generator, motion):
    return generator.uniform(-2, 2, 1)


def spin(generator, motion):
    """A torque in the direction in which the rod turns makes it go round and round."""
    return np.array([2.0 if motion[1] > 0 else -2.0])


@pytest.mark.parametrize("policy", [at_random, spin])
def test_whole_episodes_are_gymnasiums(theirs, policy):
    env = envs.make("Pendulum-v1")
    generator = np.random.default_rng(0)
    with jax.enable_x64(True):  # in float32, the motion soon depends on roundings
        step = jax.jit(env.transition_from_noise)
        for seed in range(2):
            theirs.reset(seed=seed)
            motion, cut, steps = theirs.unwrapped.state, False, 0
            state = jnp.asarray(observed(motion))
            while not cut:
                action = policy(generator, motion)
                _, their_reward, over, cut, _ = theirs.step(action)
                motion, steps = theirs.unwrapped.state, steps + 1
                state, reward, terminal = step(state, jnp.asarray(action), jnp.zeros(1))
                np.testing.assert_allclose(state, observed(motion), rtol=0, atol=1e-8)
                np.testing.assert_allclose(reward, their_reward, rtol=0, atol=1e-7)
                assert bool(terminal) is over is False
            assert steps == env.episode_limit
            if policy is spin:
                assert abs(motion[0]) > 4 * np.pi  # Gymnasium's angle is not wrapped


def test_bounds_actions_and_time_limit_are_gymnasiums(theirs):
    env = envs.make("Pendulum-v1")
    np.testing.assert_array_equal(env.low, theirs.observation_space.low)
    np.testing.assert_array_equal(env.high, theirs.observation_space.high)
    np.testing.assert_array_equal(env.action_low, theirs.action_space.low)
    np.testing.assert_array_equal(env.action_high, theirs.action_space.high)
    assert (env.num_actions, env.action_size) == (0, 1)
    assert env.episode_limit == theirs.spec.max_episode_steps == 200
    assert env.g == theirs.unwrapped.g


def step(motion, torque):
    """Ours from an angle and a speed: the next angle, the next speed and the reward."""
    env = envs.make("Pendulum-v1")
    state = observed(np.array(motion)).astype(np.float32)
    (cos, sin, speed), reward, _ = jax.jit(env.transition)(
        state, jnp.array([torque]), jax.random.key(0)
    )
    return float(jnp.arctan2(sin, cos)), float(speed), float(reward)


@pytest.mark.parametrize(
    ("motion", "torque", "reward"),
    [
        ((0.0, 0.0), 0.0, 0.0),  # upright
        ((np.pi, 0.0), 0.0, -(np.pi**2)),
        ((-np.pi, 0.0), 0.0, -(np.pi**2)),
        ((1.5 * np.pi, 0.0), 0.0, -((np.pi / 2) ** 2)),  # the other way round
        ((7.0, 0.0), 0.0, -((7 - 2 * np.pi) ** 2)),
        ((0.0, 3.0), 0.0, -0.9),
        ((0.0, 0.0), -1.0, -0.001),
        ((0.0, 0.0), 50.0, -0.004),
        ((np.pi, 8.0), 2.0, -16.2736044),  # the least, as Gymnasium documents it
    ],
)
def test_the_reward_is_that_of_the_state_before_the_step(motion, torque, reward):
    assert step(motion, torque)[2] == pytest.approx(reward, rel=1e-6, abs=1e-6)


def test_the_angle_goes_on_at_the_other_end_when_the_rod_swings_through_the_bottom():
    near = np.pi - 0.01
    for sign in (1, -1):
        angle, speed, _ = step((sign * near, sign * 5.0), 0.0)
        assert sign * speed == pytest.approx(5 + 0.75 * np.sin(near), rel=1e-5)
        expected = near + 0.05 * (5 + 0.75 * np.sin(near)) - 2 * np.pi
        assert sign * angle == pytest.approx(expected, rel=1e-5)


def test_torques_and_speeds_are_clipped():
    for sign in (1, -1):
        assert step((sign * np.pi / 2, sign * 8.0), sign * 2.0)[1] == sign * 8
        assert step((0.3, 1.0), sign * 2.5) == step((0.3, 1.0), sign * 2.0)
        assert step((0.3, 1.0), sign * 1.5) != step((0.3, 1.0), sign * 2.0)


def test_starts_have_any_angle_and_a_moderate_speed():
    env = envs.make("Pendulum-v1")
    states = np.asarray(jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(1), 4000)))
    unit = np.stack([np.arctan2(states[:, 1], states[:, 0]) / np.pi, states[:, 2]], -1)
    assert (np.abs(unit) <= 1 + 1e-6).all()
    # With 4,000 draws, each of the four is false once in e²⁰ seeds.
    assert (unit.min(0) < -0.99).all()
    assert (unit.max(0) > 0.99).all()
    # Means, variances and the covariance of two independent uniform numbers. Six standard errors
    # of five numbers: a false alarm once in a hundred million seeds.
    np.testing.assert_allclose(unit.mean(0), 0, atol=6 * np.sqrt(1 / 3 / 4000))
    np.testing.assert_allclose(unit.T @ unit / 4000, np.eye(2) / 3, atol=6 / 3 / np.sqrt(4000))


def test_any_observation_is_moved_as_the_one_nearest_to_it_that_has_an_angle():
    env = envs.make("Pendulum-v1")
    states = jax.random.uniform(jax.random.key(0), (500, 3), minval=-2, maxval=2)
    outcome = jax.jit(
        jax.vmap(lambda s: env.transition_from_noise(s, jnp.array([1.0]), jnp.zeros(1)))
    )
    nearest = jax.jit(jax.vmap(env.on_manifold))(states)
    for ours, expected in zip(outcome(states), outcome(nearest), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=5e-6)


def test_projection_gives_a_pair_of_length_1_and_a_bounded_speed():
    env = envs.make("Pendulum-v1")
    scale = np.float32(10.0 ** np.linspace(-2, 5, 5000)[:, None])
    states = scale * np.asarray(jax.random.normal(jax.random.key(0), (5000, 3)))

    @jax.jit
    @jax.vmap
    def moved(state):
        projected = env.project(state)
        return env.on_manifold(state), projected, env.contains(projected)

    on_circle, projected, contained = map(np.asarray, moved(states))
    for found in (on_circle, projected):
        np.testing.assert_allclose(np.linalg.norm(found[:, :2], axis=-1), 1, rtol=0, atol=5e-7)
    np.testing.assert_array_equal(on_circle[:, 2], states[:, 2])
    np.testing.assert_array_equal(projected[:, 2], np.clip(states[:, 2], -8, 8))
    assert contained.all()
    directions, lengths = (on_circle * states)[:, :2].sum(-1), np.linalg.norm(states[:, :2], axis=1)
    np.testing.assert_allclose(directions, lengths, rtol=1e-6)


def test_states_on_the_manifold_are_their_own_projection_to_rounding():
    env = envs.make("Pendulum-v1")
    motions = np.random.default_rng(0).uniform(-1, 1, (5000, 2)) * [np.pi, 8]
    states = observed(motions).astype(np.float32)
    for project in (env.on_manifold, env.project):
        # The length is 1 to two roundings, of 6e-8 each.
        np.testing.assert_allclose(jax.jit(jax.vmap(project))(states), states, rtol=0, atol=5e-7)


def test_a_pair_without_a_direction_is_upright():
    env = envs.make("Pendulum-v1")
    state = jnp.array([1e-8, -1e-8, 3.0])
    np.testing.assert_array_equal(jax.jit(env.on_manifold)(state), [1, 0, 3])
    assert np.isfinite(jax.jit(env.move)(jnp.zeros(3), jnp.zeros(1), jnp.zeros(0))).all()


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({"algorithm": "naf"}, "true"),
        ({"algorithm": "dyna", "search_control": "uniform"}, "true"),
        ({"algorithm": "dyna", "search_control": "td-error", "model": "ensemble"}, "ensemble"),
    ],
)
def test_agents_with_continuous_actions_train(settings, model):
    result = freqdyna.train(**TINY, **settings)
    assert result.provenance["environment"].startswith("Pendulum(")
    assert (result.config.model, result.config.eval_exploration) == (model, 0.0)
    assert result.returns.shape == (3, 5)
    assert (result.returns < 0).all()
    assert np.isfinite(result.parameters).all()
    states = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 8.0]])
    policy = result.policy(0)
    actions = policy(states)
    assert actions.shape == (2, 1)
    assert (np.abs(actions) <= 2).all()
    assert (actions != np.round(actions)).any()
    np.testing.assert_allclose(policy(states[1]), actions[1], rtol=1e-5, atol=1e-6)


def test_agents_with_discrete_actions_are_refused():
    message = "algorithm is 'er', but the actions of 'Pendulum-v1' are continuous; choose one of"
    with pytest.raises(FreqdynaError, match=message):
        freqdyna.train(**TINY, algorithm="er")


def test_an_object_of_gymnasium_is_gymnasiums(theirs):
    config = Config(env="Pendulum-v1", algorithm="dyna-naf-value")
    run = prepare(config, factory_of(theirs))
    run.block.close()
    assert run.block.training.agent.env.on_host
    assert run.config.model == "learned"


def test_a_run_that_was_started_in_gymnasiums_goes_on_there(tmp_path, monkeypatch):
    settings = TINY | {"algorithm": "naf", "seeds": 1, "steps": 20}
    with monkeypatch.context() as earlier:
        earlier.delitem(envs.ENVIRONMENTS, "Pendulum-v1")
        began = freqdyna.train(**settings, out=tmp_path / "run")
    assert isinstance(named_environment(began.config), envs.Pendulum)
    result = freqdyna.resume(tmp_path / "run", steps=40, progress=False)
    assert result.steps.tolist() == [20, 40]
    assert result.provenance["environment"] == began.provenance["environment"]
    assert result.provenance["environment"].startswith("HostSpace(")
    assert result.policy(0)(np.array([1.0, 0.0, 0.0])).shape == (1,)
