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
    for action, expected in ((UP, (0.1, 0.15)), (DOWN, (0.1, 0.05)), (LEFT, (0.05, 0.1))):
        np.testing.assert_allclose(move(env, (0.1, 0.1), action)[0], expected, atol=1e-7)
    np.testing.assert_allclose(move(env, (0.1, 0.1), RIGHT)[0], (0.15, 0.1), atol=1e-7)


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


@pytest.mark.parametrize("name", MAZES)
@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_walls_stop_on_the_very_edge_of_the_square(name, edge):
    env = envs.make(name)
    for wall in env.walls:
        if wall.bottom <= edge <= wall.top:
            continue
        for x, action in ((wall.left - 0.01, RIGHT), (wall.right + 0.01, LEFT)):
            np.testing.assert_allclose(move(env, (x, edge), action)[0], (x, edge))
        assert not env.contains(jnp.array([wall.hole_center[0], edge]))


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


def test_in_a_hole_its_upper_and_lower_edges_stop():
    env = envs.make("MazeGridWorld")
    hole = (0.25, 0.45)
    np.testing.assert_allclose(move(env, hole, UP, noise=1.0)[0], hole)
    np.testing.assert_allclose(move(env, hole, DOWN, noise=1.0)[0], hole)


def test_even_a_huge_step_does_not_jump_over_a_wall():
    env = envs.make("MazeGridWorld")
    np.testing.assert_allclose(move(env, (0.19, 0.8), RIGHT, noise=20.0)[0], (0.19, 0.8))


def test_the_edge_of_the_square_clips():
    env = envs.make("GridWorld")
    np.testing.assert_allclose(move(env, (0.02, 0.3), LEFT)[0], (0.0, 0.3), atol=1e-7)


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


@pytest.mark.parametrize("part", [False, True])
def test_walls_are_part_of_the_state_space_if_that_is_set(part):
    env = envs.make("GridWorld", walls_in_state_space=part)
    assert env.contains(jnp.array(DEEP_INSIDE)) == part
    assert not env.contains(jnp.array([0.55, 1.01]))
    projected = env.project(jnp.array([0.51, -0.1]))
    np.testing.assert_allclose(projected, (0.51 if part else 0.5, 0.0), atol=1e-7)


def test_with_collision_by_segment_no_move_leads_out_of_a_wall():
    env = envs.make("GridWorld", walls_in_state_space=True)
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


def test_an_unknown_rule_of_collision_is_refused():
    message = "collision is 'none'; it must be 'segment' or 'end_point'"
    with pytest.raises(FreqdynaError, match=message):
        envs.make("GridWorld", collision="none")
