from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import FreqdynaError, envs
from freqdyna.agents.models.true import TrueModel
from freqdyna.envs.base import run_episode

UP, DOWN, LEFT, RIGHT = range(4)
SIZES = (2, 3, 4, 6, 8)


def make(n, **settings):
    return envs.make(f"TubeGridWorld-{n}", **settings)


@partial(jax.jit, static_argnames="env")
def steps(env, states, actions, noises):
    return jax.vmap(env.transition_from_noise)(states, actions, noises)


def states_at(env, places, deviations):
    """States with these (x, y), and these deviations of the other coordinates."""
    places = np.float32(places)
    others = np.asarray(jax.vmap(env.centers)(places)) + deviations[:, : env.observation_size - 2]
    return np.concatenate([places, others], axis=1).astype(np.float32)


def distances_to_goal(env):
    """Moves to the goal from the centres of 20 × 20 cells, by value iteration without noise."""
    cells = np.stack(np.meshgrid(*[np.arange(20)] * 2, indexing="ij"), -1).reshape(-1, 2)
    deviations = np.random.default_rng(0).uniform(-0.2, 0.2, (400, 6))
    states = states_at(env, 0.025 + 0.05 * cells, deviations)
    noises = np.zeros((400, 1 + env.noise_size), np.float32)
    left, is_goal = np.full(400, 1000), np.asarray(jax.vmap(env.terminal)(states))
    after = []
    for action in range(4):
        found, rewards, terminal = steps(env, states, np.full(400, action, np.int32), noises)
        np.testing.assert_array_equal(rewards, np.where(terminal, 0, -1))
        reached = np.clip(np.round((np.asarray(found)[:, :2] - 0.025) / 0.05).astype(int), 0, 19)
        after.append(reached @ (20, 1))
    for _ in range(100):
        left = np.where(is_goal, 0, np.minimum(1 + left[np.array(after)].min(0), 1000))
    return left.reshape(20, 20)


def test_value_iteration_gives_the_same_values_for_every_n():
    values = [distances_to_goal(make(n, move_noise=0.0)) for n in SIZES]
    for found in values[1:]:
        np.testing.assert_array_equal(found, values[0])
    assert values[0][0, 0] == 19 + 19  # through the hole, which is on a shortest way
    assert values[0][9, 19] == 10 + 2 * 10  # down to the hole's upper cell, and up again
    in_wall = ~np.isin(np.arange(20), (8, 9))
    np.testing.assert_array_equal(values[0][10:12] == 1000, [in_wall] * 2)


def test_with_equal_noise_place_reward_and_end_are_those_of_grid_world():
    generator, count = np.random.default_rng(1), 4000
    places = generator.uniform(size=(count, 2)).astype(np.float32)
    actions = generator.integers(4, size=count).astype(np.int32)
    noises = generator.standard_normal((count, 8)).astype(np.float32)
    deviations = np.clip(0.05 * generator.standard_normal((count, 6)), -0.2, 0.2)
    expected = steps(envs.make("GridWorld"), places, actions, noises[:, :2])
    for n in (2, 8):
        env = make(n)
        assert env.noise_size == n - 1
        found = steps(env, states_at(env, places, deviations), actions, noises[:, :n])
        differs = np.abs(np.asarray(found[0])[:, :2] - expected[0]).max(1) > 1e-6
        differs |= np.asarray(found[1]) != expected[1]
        differs |= np.asarray(found[2]) != expected[2]
        # A move that ends on the edge of the wall or of the goal may be rounded to either side.
        assert differs.sum() <= 1


def test_a_policy_on_two_coordinates_has_the_same_returns_for_2_and_8():
    def policy(state, key):
        x, y = state[:2]
        to_hole = jnp.where(y < 0.42, UP, jnp.where(y > 0.48, DOWN, RIGHT))
        best = jnp.where(x < 0.6, to_hole, jnp.where(x > 0.95, UP, RIGHT))
        act_key, random_key = jax.random.split(key)
        other = jax.random.randint(random_key, (), 0, 4)
        return jnp.where(jax.random.bernoulli(act_key, 0.2), other, best)

    @partial(jax.jit, static_argnames="env")
    def returns(env, key):
        return jax.vmap(lambda k: run_episode(env, policy, k).total)(jax.random.split(key, 2000))

    small = np.sort(returns(make(2, episode_limit=200), jax.random.key(0)))
    large = np.sort(returns(make(8, episode_limit=200), jax.random.key(1)))
    assert 2 < small.std() < 30
    at = np.concatenate([small, large])
    shares = [np.searchsorted(one, at, side="right") / 2000 for one in (small, large)]
    # The Kolmogorov-Smirnov test: a false alarm at most once in a million runs.
    threshold = np.sqrt(-np.log(1e-6 / 2) / 2) * np.sqrt(2 / 2000)
    assert np.abs(shares[0] - shares[1]).max() < threshold < 0.09


@pytest.fixture(scope="module")
def walks():
    """Random walks of 64 agents over 400 steps in 8 coordinates, shape (64, 400, 8)."""
    env = make(8)

    def walk(key):
        def step(state, key):
            act_key, env_key = jax.random.split(key)
            action = jax.random.randint(act_key, (), 0, 4)
            return (env.transition(state, action, env_key)[0],) * 2

        return jax.lax.scan(step, env.reset(key), jax.random.split(key, 400))[1]

    states = jax.jit(jax.vmap(walk))(jax.random.split(jax.random.key(2), 64))
    return states, np.asarray(jax.vmap(jax.vmap(env.deviations))(states))


def test_the_other_coordinates_stay_around_their_centres(walks):
    states, deviations = walks
    assert np.abs(deviations).max() < 0.2 + 1e-6
    assert jax.vmap(jax.vmap(make(8).is_on_course))(states).all()
    # Deviations 40 steps apart have a correlation of 0.9⁴⁰ = 0.015: 64 × 10 × 6 nearly independent
    # numbers. Five standard errors: a false alarm in a million runs.
    sample = deviations[:, ::40].ravel()
    assert len(sample) == 3840
    assert abs(sample.mean()) < 5 * 0.05 / np.sqrt(3840)
    assert abs(sample.std() - 0.05) < 5 * 0.05 / np.sqrt(2 * 3840)
    pairs = np.corrcoef(deviations[:, :-1].ravel(), deviations[:, 1:].ravel())
    assert abs(pairs[0, 1] - 0.9) < 0.01  # 153,216 pairs: about nine standard errors


def test_they_are_independent_of_the_actions():
    env = make(4)
    states = states_at(env, [(0.2, 0.2)] * 4, np.zeros((4, 6)))
    after = steps(env, states, np.arange(4, dtype=np.int32), np.ones((4, 4), np.float32))[0]
    deviations = np.asarray(jax.vmap(env.deviations)(after))
    np.testing.assert_allclose(deviations, 0.05 * np.sqrt(1 - 0.81), atol=1e-6)


@pytest.mark.parametrize("sign", [-1, 1])
def test_off_course_no_move_has_an_effect_and_every_way_back_takes_at_most_11_steps(sign):
    env = make(3)
    center = float(env.centers(jnp.array([0.3, 0.3]))[0])
    generator = np.random.default_rng(4)
    edge = 1.0 if sign > 0 else 0.0
    state = jnp.array([0.3, 0.3, edge])
    assert not env.is_on_course(state)
    for step in range(1, 12):
        noise = np.float32([[0, 0, sign * generator.uniform(0, 5)]])  # away from the centre
        state = steps(env, state[None], np.int32([step % 4]), noise)[0][0]
        np.testing.assert_array_equal(state[:2], np.float32([0.3, 0.3]))
        assert abs(state[2] - center) <= max(0.2, 0.9**step * abs(edge - center)) + 1e-6
        if env.is_on_course(state):
            break
    assert env.is_on_course(state)
    moved = steps(env, state[None], np.int32([UP]), np.zeros((1, 3), np.float32))[0][0]
    np.testing.assert_allclose(moved[:2], (0.3, 0.35), atol=1e-6)


def test_every_further_coordinate_halves_the_share_of_the_box_that_is_on_course():
    for n in (2, 3, 8):
        env, share = make(n), 0.5 ** (n - 2)
        states = jax.random.uniform(jax.random.key(n), (50_000, n))
        found = float(jax.jit(jax.vmap(env.is_on_course))(states).mean())
        # Five standard errors: a false alarm in a million runs.
        assert abs(found - share) <= 5 * np.sqrt(share * (1 - share) / 50_000)
        expected = jax.jit(jax.vmap(envs.make("GridWorld").contains))(states[:, :2])
        np.testing.assert_array_equal(jax.jit(jax.vmap(env.contains))(states), expected)


def test_projection_is_that_of_grid_world_and_clips_the_others():
    projected = jax.jit(make(4).project)(jnp.array([0.51, 0.2, -0.3, 1.4]))
    np.testing.assert_allclose(projected, (0.5, 0.2, 0.0, 1.0), atol=1e-7)
    assert not make(4).contains(jnp.array([0.1, 0.2, 0.5, 1.01]))


def test_the_model_is_known_to_be_finite_and_the_picture_is_that_of_the_first_two_coordinates():
    env = make(8)
    assert TrueModel(env).is_always_finite
    state = np.asarray(env.reset(jax.random.key(0)))
    np.testing.assert_array_equal(
        env.painter().draw(state), envs.make("GridWorld").painter().draw(state[:2])
    )


def test_other_sizes_can_be_made_and_bad_ones_are_refused():
    env = envs.TubeGridWorld.with_coordinates(5)()
    assert (env.name, env.observation_size, type(env).__name__) == (
        "TubeGridWorld-5",
        5,
        "TubeGridWorld5",
    )
    assert env.reset(jax.random.key(0)).shape == (5,)
    for bad in (1, -3):
        with pytest.raises(FreqdynaError, match=f"n is {bad}; it must be an integer, 2 or greater"):
            envs.TubeGridWorld.with_coordinates(bad)
