import itertools

import jax
import jax.numpy as jnp
import numpy as np
from probes import Clock

from freqdyna.agents.dyna.state import Queue, Visited
from freqdyna.search_control.base import Proposal


@jax.jit
def add(queue, values, count):
    none = jnp.zeros((), int)
    return queue.add(Proposal(values[:, None], count, none, none, none), Clock())


def added(queue, values, count):
    return add(queue, np.float32(values), count)


def test_only_what_was_found_enters_and_the_oldest_leaves_first():
    queue = Queue.empty(4, Clock())
    assert queue.is_empty()
    queue = added(queue, [1, 2, 99], 2)
    np.testing.assert_array_equal(queue.rows[:, 0], [1, 2, 0, 0])
    queue = added(queue, [3, 4, 5], 3)
    np.testing.assert_array_equal(queue.rows[:, 0], [5, 2, 3, 4])
    for value in range(6, 60):
        queue = added(queue, [value, 0, 0], 1)
    assert sorted(queue.rows[:, 0].tolist()) == [56, 57, 58, 59]
    assert int(queue.count) < 8


def test_states_that_are_not_finite_do_not_enter():
    queue = added(Queue.empty(4, Clock()), [np.nan, 1, np.inf, 2, 99], 4)
    np.testing.assert_array_equal(queue.rows[:, 0], [1, 2, 0, 0])
    assert int(queue.count) == 2
    queue = added(queue, [3, -np.inf, 4, 5, 99], 4)
    np.testing.assert_array_equal(queue.rows[:, 0], [5, 2, 3, 4])
    assert int(queue.count) == 5


def test_running_statistics_equal_numpys():
    generator = np.random.default_rng(0)
    states = (generator.normal(size=(500, 3)) @ generator.normal(size=(3, 3)) + 5).astype(
        np.float32
    )
    visited, add = Visited.empty(3), jax.jit(Visited.add)
    for state, next_state in itertools.pairwise(states):
        visited = add(visited, state, next_state)
    np.testing.assert_allclose(visited.mean, states[:-1].mean(0), rtol=1e-4)
    np.testing.assert_allclose(
        jax.jit(Visited.covariance)(visited), np.cov(states[:-1].T), rtol=1e-3, atol=1e-3
    )
    steps = np.linalg.norm(np.diff(states, axis=0), axis=1) / np.sqrt(3)
    np.testing.assert_allclose(visited.mean_step, steps.mean(), rtol=1e-4)
