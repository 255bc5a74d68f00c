"""Tabular Dyna-Q in the maze of Sutton & Barto, and its model."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from reproduction import tabular

SEEDS = 10


# Sutton & Barto, figure 8.2: with 50 planning steps about three episodes, with none about 25.
@pytest.mark.learning
def test_planning_solves_the_maze_in_a_few_episodes():
    lengths = tabular.first_episodes(tabular.train_seeds(SEEDS, 8000, 0)[1], 10)
    assert (lengths > 0).all()
    assert lengths.mean(0)[5:].mean() > 80
    states, ended = tabular.train_seeds(SEEDS, 5000, 50)
    # Near the 14 of the optimal path, at 10% exploration.
    assert tabular.first_episodes(ended, 10).mean(0)[5:].mean() < 25
    # The greedy path from the start is the optimal one of 14 steps in most runs.
    to, lengths = tabular.successors(), []
    for values in np.asarray(states.values):
        cell, length = tabular.START, 0
        while cell != tabular.GOAL and length < 100:
            cell, length = to[cell, np.argmax(values[cell])], length + 1
        lengths.append(length)
    assert min(lengths) == 14
    assert np.median(lengths) <= 16


def test_obstacles_and_edges_stop_moves():
    up, down, left, right = range(4)
    to = tabular.successors()
    assert to[tabular.START].tolist() == [9, 27, 18, 19]  # the edge is on its left
    assert to[19, right] == 19  # an obstacle
    assert to[17, up] == tabular.GOAL
    assert (to[0, up], to[53, down], to[53, right], to[28, left]) == (0, 53, 53, 27)
    # From no cell but an obstacle itself is an obstacle reached.
    blocked = [i for i, kind in enumerate("".join(tabular.MAZE)) if kind == "#"]
    assert not np.isin(np.delete(to, blocked, axis=0), blocked).any()


def test_visited_pairs_are_drawn_equally_often():
    model = jnp.full((3, 4), tabular.NOT_VISITED).at[[0, 2], [1, 0]].set(jnp.array([1, 0]))
    drawn = np.stack(tabular.visited(model, 8000, jax.random.key(0)))
    pairs, counts = np.unique(drawn, axis=1, return_counts=True)
    np.testing.assert_array_equal(pairs.T, [(0, 1), (2, 0)])
    assert abs(counts[0] / 8000 - 0.5) < 5 * np.sqrt(0.25 / 8000)


def test_an_update_moves_a_value_towards_its_target():
    values = jnp.zeros((54, 4)).at[5].set(jnp.array([0.5, 1.0, 0.0, 0.0]))
    values = tabular.update(values, jnp.int32(4), jnp.int32(3), jnp.int32(5))
    assert float(values[4, 3]) == pytest.approx(0.1 * 0.95)
    values = tabular.update(values, jnp.int32(17), jnp.int32(0), jnp.int32(tabular.GOAL))
    assert float(values[17, 0]) == pytest.approx(0.1)


def test_episodes_that_have_not_ended_have_no_length():
    ended = np.array([[0, 2, 0, 2], [0, 0, 0, 4]])
    assert tabular.first_episodes(ended, 3).tolist() == [[2, 2, 0], [4, 0, 0]]
    assert tabular.first_episodes(ended, 1).tolist() == [[2], [4]]
