"""Tabular Dyna-Q in the maze of Sutton & Barto, and its count model."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import Config, envs
from freqdyna.agents import algorithms
from freqdyna.agents.tabular import CountModel
from freqdyna.envs.mazes import GOAL_CELL, START_CELL

SEEDS = 10
MAZE = envs.make("DynaMaze")


def run(planning_steps, steps):
    settings = {"planning_steps": planning_steps, "learner.discount": 0.95}
    config = Config.of({"algorithm": "tabular-dyna-q", "env": "DynaMaze", **settings})
    agent = algorithms.build(config, MAZE)

    @jax.jit
    @jax.vmap
    def advance(seed):
        start = agent.init(jax.random.key(seed))
        return jax.lax.fori_loop(0, steps, lambda t, state: agent.step(state, t), start)

    return advance(jnp.arange(SEEDS))


def mean_lengths(states):
    """The mean lengths over seeds of the first ten episodes, which all seeds have finished."""
    lengths = np.asarray(states.episode_lengths)[:, :10]
    assert (lengths > 0).all()
    return lengths.mean(0)


# Sutton & Barto, figure 8.2: with 50 planning steps about three episodes, with none about 25.
@pytest.mark.learning
def test_planning_solves_the_maze_in_a_few_episodes():
    assert mean_lengths(run(0, 8000))[5:].mean() > 80
    planned = run(50, 5000)
    # Near the 14 of the optimal path, at 10% exploration.
    assert mean_lengths(planned)[5:].mean() < 25
    # The greedy path from the start is the optimal one of 14 steps in most runs.
    step = jax.jit(MAZE.transition)
    lengths = []
    for table in np.asarray(planned.table.values):
        state, length = np.float32(START_CELL), 0
        while tuple(state) != GOAL_CELL and length < 100:
            action = int(np.argmax(table[int(9 * state[0] + state[1])]))
            state, length = np.asarray(step(state, action, jax.random.key(0))[0]), length + 1
        lengths.append(length)
    assert min(lengths) == 14
    assert np.median(lengths) <= 16


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
