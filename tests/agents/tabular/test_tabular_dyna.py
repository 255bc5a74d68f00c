from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import Config, envs
from freqdyna.agents import algorithms
from freqdyna.agents.tabular import CountModel
from freqdyna.envs.mazes import GOAL_CELL, OBSTACLES, START_CELL
from freqdyna.training.seeds import Training

SEEDS = 10


@cache
def all_moves():
    """The cell to which each action leads from each cell."""
    cells = [(row, column) for row in range(6) for column in range(9)]
    step = jax.vmap(envs.make("DynaMaze").transition, in_axes=(None, 0, None))
    steps = jax.jit(jax.vmap(step, in_axes=(0, None, None)))
    moved = np.asarray(steps(np.float32(cells), np.arange(4), jax.random.key(0))[0]).astype(int)
    return {
        (cell, action): tuple(moved[i, action].tolist())
        for i, cell in enumerate(cells)
        for action in range(4)
    }


def run(planning_steps, steps):
    config = Config.of(
        {
            "algorithm": "tabular-dyna-q",
            "env": "DynaMaze",
            "planning_steps": planning_steps,
            "learner": {"discount": 0.95},
        }
    )
    env = envs.make("DynaMaze")
    training = Training(algorithms.build(config, env), 1, 0.0)

    @jax.jit
    @jax.vmap
    def advance(seed):
        start = training.init(jax.random.key(seed))
        return training.advance(start, jnp.asarray(0), jnp.asarray(steps))

    return advance(jnp.arange(SEEDS))


def mean_lengths(states):
    """The mean lengths over seeds of the first ten episodes, which all seeds have finished."""
    lengths = np.asarray(states.episode_lengths)[:, :10]
    assert (lengths > 0).all()
    return lengths.mean(0)


# Sutton & Barto, figure 8.2: with 50 planning steps about three episodes, with none about 25.
@pytest.mark.learning
def test_planning_solves_the_maze_in_a_few_episodes():
    planned = run(50, 2500)
    assert (
        mean_lengths(planned)[5:].mean() < 25
    )  # near the 14 of the optimal path, at 10% exploration
    # The greedy path from the start is the optimal one of 14 steps in most runs.
    lengths, moved = [], all_moves()
    for table in np.asarray(planned.table.values):
        state, length = START_CELL, 0
        while state != GOAL_CELL and length < 100:
            state = moved[state, int(np.argmax(table[9 * state[0] + state[1]]))]
            length += 1
        lengths.append(length)
    assert min(lengths) == 14
    assert np.median(lengths) <= 16


def test_without_planning_the_maze_needs_tens_of_episodes():
    without = mean_lengths(run(0, 8000))
    assert without[5:].mean() > 80
    first_episodes = np.asarray(run(2, 2500).episode_lengths)[:, 0]
    assert without[0] == first_episodes.mean()  # nothing is known in the first episode


def test_the_shortest_way_through_the_maze_has_14_steps():
    moved = all_moves()
    frontier, seen, steps = {START_CELL}, set(), 0
    while GOAL_CELL not in frontier:
        seen |= frontier
        frontier = {moved[cell, action] for cell in frontier for action in range(4)} - seen
        steps += 1
    assert steps == 14
    assert not seen & set(OBSTACLES)


def test_the_count_model_repeats_frequencies_mean_rewards_and_ends():
    model, learn = CountModel.empty(3, 2), jax.jit(CountModel.learn)
    outcomes = [(1, 1.0), (1, 3.0), (2, 5.0), (1, 2.0)]
    for next_cell, reward in outcomes:
        model = learn(model, 0, 1, reward, next_cell, next_cell == 2)
    fractions = jax.random.uniform(jax.random.key(0), (8000,))
    query = jax.jit(jax.vmap(CountModel.query, in_axes=(None, None, None, 0)))
    rewards, cells, ends = query(model, 0, 1, fractions)
    assert abs((np.asarray(cells) == 1).mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 8000)
    np.testing.assert_allclose(np.asarray(rewards)[np.asarray(cells) == 1], 2.0)
    np.testing.assert_array_equal(ends, np.asarray(cells) == 2)
    model = learn(model, 2, 0, 1.0, 1, False)
    cell, action = jax.jit(CountModel.draw_seen)(model, fractions)
    pairs, counts = np.unique(np.stack([cell, action]), axis=1, return_counts=True)
    np.testing.assert_array_equal(pairs.T, [(0, 1), (2, 0)])
    assert abs(counts[0] / 8000 - 0.5) < 5 * np.sqrt(0.25 / 8000)
