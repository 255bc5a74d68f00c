"""The mazes: moves, walls and holes, and the tube around GridWorld in more coordinates."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import FreqdynaError, envs

UP, DOWN, LEFT, RIGHT = map(np.int32, range(4))
MAZES = ["GridWorld", "MazeGridWorld"]


@partial(jax.jit, static_argnames="env")
def transition(env, state, action, noises):
    return env.transition_from_noise(state, action, noises)


def move(env, state, action, noise=0.0):
    return transition(env, np.float32(state), action, np.float32([0.0, noise]))


def test_moves_are_five_hundredths_in_the_direction_of_the_action():
    env = envs.make("MazeGridWorld")
    ends = {UP: (0.1, 0.15), DOWN: (0.1, 0.05), LEFT: (0.05, 0.1), RIGHT: (0.15, 0.1)}
    for action, end in ends.items():
        np.testing.assert_allclose(move(env, (0.1, 0.1), action)[0], end, atol=1e-7)


def test_move_noise_is_on_the_moved_axis_with_standard_deviation_one_hundredth():
    env = envs.make("MazeGridWorld")
    keys = jax.random.split(jax.random.key(0), 20_000)
    step = jax.jit(jax.vmap(lambda key: env.transition(jnp.array([0.1, 0.5]), jnp.int32(UP), key)))
    states = np.asarray(step(keys)[0])
    assert np.all(states[:, 0] == np.float32(0.1))
    lengths = states[:, 1] - 0.5
    assert abs(lengths.mean() - 0.05) < 5 * 0.01 / np.sqrt(20_000)
    assert abs(lengths.std() - 0.01) < 5 * 0.01 / np.sqrt(2 * 20_000)


@pytest.mark.parametrize("name", MAZES)
def test_each_wall_stops_and_each_hole_lets_through(name):
    env = envs.make(name)
    for wall in env.walls:
        _, center = wall.hole_center
        outside_hole = (center + 0.5) % 1.0
        left_of, right_of = wall.left - 0.01, wall.right + 0.01
        np.testing.assert_allclose(move(env, (left_of, outside_hole), RIGHT)[0][0], left_of)
        np.testing.assert_allclose(move(env, (right_of, outside_hole), LEFT)[0][0], right_of)
        state = (left_of, center)
        for _ in range(3):
            state = move(env, state, RIGHT)[0]
        assert state[0] > wall.right


@pytest.mark.slow
@pytest.mark.parametrize("name", MAZES)
def test_wherever_one_walks_walls_are_crossed_in_their_holes_alone(name):
    env = envs.make(name)

    def walk(key):
        def step(state, key):
            # Mostly up and right, or down and right, so that edges and goal are reached.
            action_key, move_key = jax.random.split(key)
            action = jax.random.choice(action_key, 4, p=tendency)
            return (env.transition(state, action, move_key)[0],) * 2

        tendency = jnp.where(jax.random.bernoulli(key), jnp.array([5, 2, 1, 3]) / 11, 0.25)
        start = jax.random.uniform(key, (2,))
        start = jnp.where(env.contains(start), start, 0.0)
        return jax.lax.scan(step, start, jax.random.split(key, 500))[1]

    states = np.asarray(jax.jit(jax.vmap(walk))(jax.random.split(jax.random.key(0), 500)))
    assert (states == 0).any()
    assert (states == 1).any()
    for wall in env.walls:
        inside = states[(states[..., 0] > wall.left) & (states[..., 0] < wall.right)]
        assert len(inside) > 100
        assert (inside[:, 1] >= np.float32(wall.bottom)).all()
        assert (inside[:, 1] <= np.float32(wall.top)).all()


def test_the_edges_of_holes_and_of_the_square_stop_and_no_step_jumps_over_a_wall():
    env = envs.make("MazeGridWorld")
    for start, action, noise, end in (
        ((0.25, 0.45), UP, 1.0, (0.25, 0.45)),  # in a hole
        ((0.25, 0.45), DOWN, 1.0, (0.25, 0.45)),
        ((0.19, 0.8), RIGHT, 20.0, (0.19, 0.8)),
        ((0.02, 0.3), LEFT, 0.0, (0.0, 0.3)),
    ):
        np.testing.assert_allclose(move(env, start, action, noise)[0], end, atol=1e-7)


@pytest.mark.parametrize("name", MAZES)
def test_start_goal_and_rewards(name):
    env = envs.make(name)
    starts = np.asarray(jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 5000)))
    assert starts.min() >= 0
    assert 0.0499 < starts.max() <= 0.05
    _, reward, terminal = move(env, (0.96, 0.94), UP)
    assert (float(reward), bool(terminal)) == (0.0, True)
    _, reward, terminal = move(env, (0.94, 0.90), UP)
    assert (float(reward), bool(terminal)) == (-1.0, False)
    assert not env.terminal(jnp.array([0.96, 0.94]))


def test_the_holes_of_the_maze_are_where_the_paper_puts_them():
    walls = envs.MazeGridWorld.walls
    assert [(w.left, w.top) for w in walls] == [(0.2, 0.5), (0.4, 1.0), (0.7, 0.2)]
    for wall in walls:
        assert wall.right - wall.left == pytest.approx(0.1)
        assert wall.top - wall.bottom == pytest.approx(0.1)


@pytest.mark.parametrize("name", MAZES)
def test_projection_finds_the_nearest_valid_point(name):
    env = envs.make(name)
    generator = np.random.default_rng(0)
    states = generator.uniform(-0.2, 1.2, (300, 2)).astype(np.float32)
    contains = jax.jit(jax.vmap(env.contains))
    projected = jax.jit(jax.vmap(env.project))(states)
    assert np.all(contains(projected))
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), -1).reshape(-1, 2)
    valid = grid[np.asarray(contains(grid.astype(np.float32)))]
    nearest = np.array([np.linalg.norm(state - valid, axis=-1).min() for state in states])
    distance = np.linalg.norm(states - projected, axis=-1)
    # No point of a fine grid of valid points is nearer, and the grid is 0.005 wide.
    assert np.all(distance <= nearest + 1e-6)
    assert np.all(distance >= nearest - 0.005)


INSIDE, DEEP_INSIDE = (0.51, 0.2), (0.55, 0.2)  # of GridWorld's wall, x from 0.5 to 0.6


def test_walls_are_part_of_the_state_space_if_that_is_set():
    for part in (False, True):
        env = envs.make("GridWorld", walls_in_state_space=part)
        contains, project = jax.jit(env.contains), jax.jit(env.project)
        assert contains(jnp.array(DEEP_INSIDE)) == part
        assert not contains(jnp.array([0.55, 1.01]))
        projected = project(jnp.array([0.51, -0.1]))
        np.testing.assert_allclose(projected, (0.51 if part else 0.5, 0.0), atol=1e-7)
    # With collision by segment, no move leads out of a wall.
    for action in (UP, DOWN, LEFT, RIGHT):
        np.testing.assert_array_equal(move(env, INSIDE, action)[0], np.float32(INSIDE))


def test_with_collision_by_end_point_a_move_is_refused_where_it_ends_in_a_wall():
    env = envs.make("GridWorld", walls_in_state_space=True, collision="end_point")
    for start, action, end in (
        ((0.48, 0.2), RIGHT, (0.48, 0.2)),
        ((0.48, 0.45), RIGHT, (0.53, 0.45)),  # the hole
        (INSIDE, LEFT, (0.46, 0.2)),
        (INSIDE, RIGHT, INSIDE),
        (INSIDE, UP, INSIDE),
        ((0.55, 0.38), UP, (0.55, 0.43)),  # from inside the wall into the hole
        ((0.55, 0.98), UP, (0.55, 0.98)),  # clipped to the edge, where the wall is, too
    ):
        np.testing.assert_allclose(move(env, start, action)[0], end, atol=1e-7)
    far = move(env, (0.48, 0.2), RIGHT, noise=10.0)[0]  # 0.15, over the wall
    np.testing.assert_allclose(far, (0.63, 0.2), atol=1e-6)


def tube(n, **settings):
    return envs.make(f"TubeGridWorld-{n}", **settings)


@partial(jax.jit, static_argnames="env")
def steps(env, states, actions, noises):
    return jax.vmap(env.transition_from_noise)(states, actions, noises)


def states_at(env, places, deviations):
    """States with these (x, y), and these deviations of the other coordinates."""
    places = np.float32(places)
    others = np.asarray(jax.vmap(env.centers)(places)) + deviations[:, : env.observation_size - 2]
    return np.concatenate([places, others], axis=1).astype(np.float32)


def test_with_equal_noise_place_reward_and_end_are_those_of_grid_world():
    generator, count = np.random.default_rng(1), 4000
    places = generator.uniform(size=(count, 2)).astype(np.float32)
    actions = generator.integers(4, size=count).astype(np.int32)
    noises = generator.standard_normal((count, 8)).astype(np.float32)
    deviations = np.clip(0.05 * generator.standard_normal((count, 6)), -0.2, 0.2)
    expected = steps(envs.make("GridWorld"), places, actions, noises[:, :2])
    for n in (2, 8):
        env = tube(n)
        assert env.noise_size == n - 1
        ours = steps(env, states_at(env, places, deviations), actions, noises[:, :n])
        differs = np.abs(np.asarray(ours[0])[:, :2] - expected[0]).max(1) > 1e-6
        differs |= np.asarray(ours[1]) != expected[1]
        differs |= np.asarray(ours[2]) != expected[2]
        # A move that ends on the edge of the wall or of the goal may be rounded to either side.
        assert differs.sum() <= 1


@pytest.mark.slow
def test_the_other_coordinates_stay_around_their_centres():
    env = tube(8)

    def walk(key):
        def step(state, key):
            act_key, env_key = jax.random.split(key)
            action = jax.random.randint(act_key, (), 0, 4)
            state = env.transition(state, action, env_key)[0]
            return state, (env.deviations(state), env.is_on_course(state))

        return jax.lax.scan(step, env.reset(key), jax.random.split(key, 400))[1]

    walks = jax.jit(jax.vmap(walk))(jax.random.split(jax.random.key(2), 64))
    deviations, on_course = map(np.asarray, walks)
    assert np.abs(deviations).max() < 0.2 + 1e-6
    assert on_course.all()
    # Deviations 40 steps apart have a correlation of 0.9⁴⁰ = 0.015: 64 × 10 × 6 nearly independent
    # numbers. Five standard errors: a false alarm in a million runs.
    sample = deviations[:, ::40].ravel()
    assert len(sample) == 3840
    assert abs(sample.mean()) < 5 * 0.05 / np.sqrt(3840)
    assert abs(sample.std() - 0.05) < 5 * 0.05 / np.sqrt(2 * 3840)
    pairs = np.corrcoef(deviations[:, :-1].ravel(), deviations[:, 1:].ravel())
    assert abs(pairs[0, 1] - 0.9) < 0.01  # 153,216 pairs: about nine standard errors


@pytest.mark.parametrize("sign", [-1, 1])
def test_off_course_no_move_has_an_effect_and_every_way_back_takes_at_most_11_steps(sign):
    env = tube(3)
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


@pytest.mark.slow
def test_every_further_coordinate_halves_the_share_of_the_box_that_is_on_course():
    for n in (2, 3, 8):
        env, share = tube(n), 0.5 ** (n - 2)
        states = jax.random.uniform(jax.random.key(n), (50_000, n))
        measured = float(jax.jit(jax.vmap(env.is_on_course))(states).mean())
        # Five standard errors: a false alarm in a million runs.
        assert abs(measured - share) <= 5 * np.sqrt(share * (1 - share) / 50_000)
        expected = jax.jit(jax.vmap(envs.make("GridWorld").contains))(states[:, :2])
        np.testing.assert_array_equal(jax.jit(jax.vmap(env.contains))(states), expected)


def test_projection_is_that_of_grid_world_and_clips_the_others():
    projected = jax.jit(tube(4).project)(jnp.array([0.51, 0.2, -0.3, 1.4]))
    np.testing.assert_allclose(projected, (0.5, 0.2, 0.0, 1.0), atol=1e-7)
    assert not tube(4).contains(jnp.array([0.1, 0.2, 0.5, 1.01]))


def test_there_are_tubes_of_other_sizes():
    env = envs.TubeGridWorld.with_coordinates(5)()
    assert (env.name, env.observation_size) == ("TubeGridWorld-5", 5)
    assert env.reset(jax.random.key(0)).shape == (5,)
    with pytest.raises(FreqdynaError):
        envs.TubeGridWorld.with_coordinates(1)
