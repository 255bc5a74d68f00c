import jax
import jax.numpy as jnp
import numpy as np

from freqdyna import envs
from freqdyna.envs.picture import AGENT, COLORS, FLOOR

UP, DOWN, LEFT, RIGHT = map(np.int32, range(4))
ENV = envs.make("PuddleWorld")
TRANSITION = jax.jit(ENV.transition_from_noise)


def move(state, action, noise=(0.0, 0.0)):
    return TRANSITION(np.float32(state), action, np.float32([0.0, *noise]))


DEPTHS = {
    (0.9, 0.1): 0.0,
    (0.3, 0.75): 0.1,  # on the segment of the first puddle
    (0.3, 0.7): 0.05,
    (0.05, 0.75): 0.05,  # beyond the end of the segment
    (0.04, 0.83): 0.0,  # 0.06 and 0.08 from the end: on the edge
    (0.07, 0.79): 0.05,  # 0.03 and 0.04 from the end
    (0.45, 0.5): 0.1,  # on the segment of the second puddle
    (0.51, 0.6): 0.04,
    (0.45, 0.32): 0.02,
    (0.45, 0.75): 0.2,  # on both
    (0.48, 0.79): 0.12,  # 0.05 deep in the first and 0.07 in the second
}


def test_depths_computed_by_hand():
    depths = jax.jit(jax.vmap(ENV.depth))(np.float32(list(DEPTHS)))
    np.testing.assert_allclose(depths, list(DEPTHS.values()), atol=1e-6)


def test_a_step_costs_one_and_400_times_the_depth_of_the_state_that_it_reaches():
    for start, action, reward in (
        ((0.9, 0.1), UP, -1.0),
        ((0.3, 0.8), DOWN, -41.0),
        ((0.3, 0.75), UP, -21.0),
        ((0.3, 0.85), UP, -1.0),
        ((0.5, 0.75), LEFT, -81.0),
    ):
        np.testing.assert_allclose(move(start, action)[1], reward, rtol=1e-5)


def test_the_goal_is_the_corner_where_x_and_y_add_up_to_at_least_1_9():
    for state, is_goal in (
        ((0.91, 1.0), True),
        ((0.95, 0.96), True),
        ((0.95, 0.94), False),
        ((1.0, 0.89), False),
    ):
        assert bool(ENV.terminal(jnp.array(state))) == is_goal
    next_state, reward, terminal = move((0.95, 0.9), UP, (0.0, 1.0))
    np.testing.assert_allclose(next_state, (0.95, 0.96), atol=1e-6)
    assert (float(reward), bool(terminal)) == (-1.0, True)
    generous = envs.make("PuddleWorld", goal_reward=5.0)
    assert generous.reward(jnp.zeros(2), jnp.int32(UP), jnp.array([0.95, 0.96])) == 5


def test_moves_have_length_0_05_and_noise_of_0_01_on_both_coordinates():
    keys, count = jax.random.split(jax.random.key(0), 20_000), 20_000
    step = jax.jit(jax.vmap(ENV.transition, (None, None, 0)))
    for action, direction in ((UP, (0, 1)), (DOWN, (0, -1)), (LEFT, (-1, 0)), (RIGHT, (1, 0))):
        moves = np.asarray(step(jnp.array([0.7, 0.3]), action, keys)[0], np.float64) - (0.7, 0.3)
        # Five standard errors: 20 comparisons in all give a false alarm in a hundred thousand runs.
        assert np.all(np.abs(moves.mean(0) - 0.05 * np.array(direction)) < 5e-2 / np.sqrt(count))
        assert np.all(np.abs(moves.std(0) - 0.01) < 5e-2 / np.sqrt(2 * count))
        assert abs(np.corrcoef(moves.T)[0, 1]) < 5 / np.sqrt(count)


def test_the_edge_of_the_square_stops():
    np.testing.assert_allclose(move((0.02, 0.3), LEFT)[0], (0.0, 0.3), atol=1e-7)
    np.testing.assert_allclose(move((0.999, 0.3), UP, (3.0, 0.0))[0], (1.0, 0.35), atol=1e-7)


def test_starts_are_uniform_outside_the_goal():
    starts = np.asarray(jax.jit(jax.vmap(ENV.reset))(jax.random.split(jax.random.key(0), 50_000)))
    x, y = starts.T
    assert starts.min() >= 0
    assert starts.max() <= 1
    assert (x + y).max() < 1.9 + 1e-6
    for inside, area in (
        ((x < 0.5) & (y < 0.5), 0.25),
        (x > 0.9, 0.095),
        (y > 0.9, 0.095),
        ((x > 0.9) & (y > 0.9), 0.005),
        ((x > 0.95) & (y < 0.5), 0.025),
    ):
        share = area / 0.995
        # Five standard errors: five comparisons give a false alarm in three hundred thousand runs.
        assert abs(inside.mean() - share) < 5 * np.sqrt(share * (1 - share) / 50_000)


def test_the_picture_shows_puddles_by_depth_goal_and_agent():
    picture = ENV.painter().draw(np.array([0.8, 0.2]))

    def color(x, y):
        return picture[int((1 - y) * 400), int(x * 400)]

    for place, expected in (
        ((0.3, 0.63), FLOOR),
        ((0.97, 0.97), COLORS["goal"]),
        ((0.8, 0.2), AGENT),
    ):
        assert tuple(color(*place)) == expected
    np.testing.assert_allclose(color(0.3, 0.655), COLORS["puddle"], rtol=0.05)  # shallow
    np.testing.assert_allclose(color(0.3, 0.75), np.array(COLORS["puddle"]) / 2, rtol=0.05)
