import itertools

import jax
import jax.numpy as jnp
import numpy as np
from probes import Clock
from scipy import stats

from freqdyna.agents.dyna.queue import Queue
from freqdyna.agents.dyna.visited import Visited
from freqdyna.search_control.base import Proposal


def proposal(values, count):
    none = jnp.zeros((), int)
    states = jnp.asarray(values, jnp.float32)[:, None]
    return Proposal(states, jnp.asarray(count), none, none, none)


def test_only_what_was_found_enters_and_the_oldest_leaves_first():
    queue = Queue.empty(4, Clock())
    assert queue.is_empty()
    queue = queue.add(proposal([1, 2, 99], 2), Clock())
    np.testing.assert_array_equal(queue.rows[:, 0], [1, 2, 0, 0])
    queue = queue.add(proposal([3, 4, 5], 3), Clock())
    np.testing.assert_array_equal(queue.rows[:, 0], [5, 2, 3, 4])
    for value in range(6, 60):
        queue = queue.add(proposal([value, 0, 0], 1), Clock())
    assert sorted(queue.rows[:, 0].tolist()) == [56, 57, 58, 59]
    assert int(queue.count) < 8


def test_states_that_are_not_finite_do_not_enter():
    queue = Queue.empty(4, Clock()).add(proposal([np.nan, 1, np.inf, 2, 99], 4), Clock())
    np.testing.assert_array_equal(queue.rows[:, 0], [1, 2, 0, 0])
    assert int(queue.count) == 2
    queue = queue.add(proposal([3, -np.inf, 4, 5], 4), Clock())
    np.testing.assert_array_equal(queue.rows[:, 0], [5, 2, 3, 4])
    assert int(queue.count) == 5


def test_draws_are_uniform_over_what_is_there():
    queue = Queue.empty(100, Clock()).add(proposal(np.arange(12), 12), Clock())
    drawn = queue.sample(jax.random.bits(jax.random.key(0), (12_000,)))[:, 0].astype(int)
    assert stats.chisquare(np.bincount(drawn, minlength=12)).pvalue > 1e-6


def test_running_statistics_equal_numpys():
    generator = np.random.default_rng(0)
    states = (generator.normal(size=(500, 3)) @ generator.normal(size=(3, 3)) + 5).astype(
        np.float32
    )
    visited = Visited.empty(3)
    for state, next_state in itertools.pairwise(states):
        visited = visited.add(jnp.asarray(state), jnp.asarray(next_state))
    np.testing.assert_allclose(visited.mean, states[:-1].mean(0), rtol=1e-4)
    np.testing.assert_allclose(visited.covariance(), np.cov(states[:-1].T), rtol=1e-3, atol=1e-3)
    steps = np.linalg.norm(np.diff(states, axis=0), axis=1) / np.sqrt(3)
    np.testing.assert_allclose(visited.mean_step, steps.mean(), rtol=1e-4)
