import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents import algorithms
from freqdyna.agents.tabular.count_model import CountModel
from freqdyna.envs.dyna_maze import OBSTACLES
from freqdyna.envs.resolve import resolved
from freqdyna.training.training import Training

SEEDS = 10


def run(planning_steps, steps):
    config = Config(
        algorithm="tabular-dyna-q", env="DynaMaze", planning_steps=planning_steps, discount=0.95
    )
    env = envs.make("DynaMaze")
    training = Training(algorithms.build(resolved(config, env), env), 1, 0.0)
    keys = jax.vmap(jax.random.key)(jnp.arange(SEEDS))
    advance = jax.jit(jax.vmap(training.advance, in_axes=(0, None, None)))
    states = advance(jax.vmap(training.init)(keys), jnp.asarray(0), jnp.asarray(steps))
    return training.agent, states


@pytest.mark.learning
def test_planning_solves_the_maze_in_a_few_episodes_where_none_needs_tens():
    # Sutton & Barto, figure 8.2: with 50 planning steps about three episodes, with none about 25.
    agent, planned = run(50, 6000)
    unplanned = run(0, 12_000)[1]
    with_planning = np.asarray(planned.episode_lengths).mean(0)
    without = np.asarray(unplanned.episode_lengths).mean(0)
    assert with_planning[5:10].mean() < 25  # near the 14 of the optimal path, at 10% exploration
    assert without[5:10].mean() > 80
    assert without[0] == with_planning[0]  # nothing is known in the first episode
    # The greedy path from the start is the optimal one of 14 steps in most runs.
    values = np.asarray(planned.table.values)
    env = envs.make("DynaMaze")
    lengths = []
    for table in values:
        state, length = env.reset(jax.random.key(0)), 0
        while not env.terminal(state) and length < 100:
            action = jnp.asarray(int(np.argmax(table[int(agent.cell(state))])))
            state = env.transition(state, action, jax.random.key(0))[0]
            length += 1
        lengths.append(length)
    assert min(lengths) == 14
    assert np.median(lengths) <= 16


def test_the_shortest_way_through_the_maze_has_14_steps():
    env = envs.make("DynaMaze")
    frontier, seen, steps = {(2, 0)}, set(), 0
    while (0, 8) not in frontier:
        seen |= frontier
        cells = jnp.array([cell for cell in frontier for _ in range(4)], jnp.float32)
        actions = jnp.tile(jnp.arange(4), len(frontier))
        keys = jax.random.split(jax.random.key(0), len(cells))
        moved = jax.vmap(env.transition)(cells, actions, keys)[0]
        frontier = {tuple(cell) for cell in np.asarray(moved).astype(int).tolist()} - seen
        steps += 1
    assert steps == 14
    assert not seen & set(OBSTACLES)


def test_the_count_model_repeats_frequencies_mean_rewards_and_ends():
    model = CountModel.empty(3, 2)
    outcomes = [(1, 1.0), (1, 3.0), (2, 5.0), (1, 2.0)]
    for next_cell, reward in outcomes:
        model = model.learn(
            jnp.asarray(0),
            jnp.asarray(1),
            jnp.asarray(reward),
            jnp.asarray(next_cell),
            jnp.asarray(next_cell == 2),
        )
    fractions = jax.random.uniform(jax.random.key(0), (8000,))
    rewards, cells, ends = jax.vmap(lambda u: model.query(jnp.asarray(0), jnp.asarray(1), u))(
        fractions
    )
    assert abs((np.asarray(cells) == 1).mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 8000)
    np.testing.assert_allclose(np.asarray(rewards)[np.asarray(cells) == 1], 2.0)
    np.testing.assert_array_equal(ends, np.asarray(cells) == 2)
    model = model.learn(*map(jnp.asarray, (2, 0, 1.0, 1, False)))
    cell, action = model.draw_seen(fractions)
    pairs, counts = np.unique(np.stack([cell, action]), axis=1, return_counts=True)
    np.testing.assert_array_equal(pairs.T, [(0, 1), (2, 0)])
    assert abs(counts[0] / 8000 - 0.5) < 5 * np.sqrt(0.25 / 8000)


def test_states_that_are_no_cells_are_refused():
    grid_world = envs.make("GridWorld")
    config = resolved(Config(algorithm="tabular-dyna-q", env="GridWorld"), grid_world)
    with pytest.raises(FreqdynaError, match="env is 'GridWorld'; algorithm 'tabular-dyna-q' needs"):
        algorithms.build(config, grid_world)
    with pytest.raises(FreqdynaError, match="planning_steps is 0; it must be 1 or greater for"):
        algorithms.build(resolved(Config(planning_steps=0), grid_world), grid_world)
