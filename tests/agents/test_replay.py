"""Uniform and prioritized replay, and the sum tree: exact values, and tests of samples."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from freqdyna.agents.replay import (
    BRANCHES,
    ReplayBuffer,
    empty_sum_tree,
    n_step_rows,
)

FALSE_ALARMS = 1e-6


@eqx.filter_jit
def fill(replay, size):
    def add(count, state):
        return replay.add(state, jnp.full(1, count, jnp.float32), count)

    return jax.lax.fori_loop(0, size, add, replay.init(1))


@eqx.filter_jit
def prioritized(replay, state, indices, differences):
    return replay.update_priorities(state, indices, differences)


@eqx.filter_jit
def drawn(replay, state, key, draws, size):
    bits = jax.random.bits(key, (draws,))
    return replay.sample(state, bits, jnp.asarray(size))


def filled(size, capacity=500, exponent=0.6):
    replay = ReplayBuffer(capacity, exponent=exponent)
    return replay, fill(replay, jnp.asarray(size))


def test_half_by_priority_half_uniform_with_exact_probabilities():
    size = 60
    replay, state = filled(size)
    differences = np.random.default_rng(0).normal(size=size).astype(np.float32)
    state = prioritized(replay, state, np.arange(size), differences)
    draws = 200_000
    rows, indices = map(np.asarray, drawn(replay, state, jax.random.key(1), draws, size))
    np.testing.assert_array_equal(rows[:, 0], indices)
    by_priority = np.bincount(indices[: draws // 2], minlength=size)
    uniform = np.bincount(indices[draws // 2 :], minlength=size)
    priorities = (np.abs(differences) + 1e-6) ** 0.6
    expected = priorities / priorities.sum() * (draws // 2)
    assert stats.chisquare(by_priority, expected, sum_check=False).pvalue > FALSE_ALARMS
    assert stats.chisquare(uniform).pvalue > FALSE_ALARMS


def test_a_new_transition_gets_the_greatest_priority_so_far():
    replay, state = filled(3, exponent=1.0)
    get = jax.jit(lambda state: state.tree.get(jnp.arange(4)))
    np.testing.assert_allclose(get(state), [1, 1, 1, 0])
    state = prioritized(replay, state, np.array([0, 1]), np.float32([-5.0, 0.5]))
    state = jax.jit(replay.add)(state, jnp.zeros(1), jnp.asarray(3))
    np.testing.assert_allclose(get(state), [5, 0.5, 1, 5], atol=1e-5)


def test_differences_that_are_not_finite_leave_the_tree_usable():
    replay, state = filled(5)
    state = prioritized(replay, state, np.arange(3), np.float32([np.nan, np.inf, 1.0]))
    assert np.isfinite(jax.jit(lambda state: state.tree.total())(state))
    indices = drawn(replay, state, jax.random.key(0), 400, 5)[1]
    assert set(np.asarray(indices)[:200].tolist()) == {2, 3, 4}


def test_uniform_replay_overwrites_the_oldest_row_first():
    replay = ReplayBuffer(4, 0.0)
    state = replay.init(1)
    for count in range(6):
        state = replay.add(state, jnp.full(1, float(count)), jnp.asarray(count))
    np.testing.assert_array_equal(state.rows[:, 0], [4, 5, 2, 3])


def test_only_written_rows_are_drawn_and_all_equally_often():
    replay = ReplayBuffer(1000, 0.0)
    state = fill(replay, jnp.asarray(37))
    rows, indices = drawn(replay, state, jax.random.key(0), 37_000, 37)
    np.testing.assert_array_equal(rows[:, 0], indices)
    counts = np.bincount(indices, minlength=37)
    assert len(counts) == 37
    assert stats.chisquare(counts).pvalue > FALSE_ALARMS


SIZES = [1, BRANCHES, BRANCHES + 1, BRANCHES**2 + 1]
"""On both sides of every new level; few, as each is a program of its own."""


@jax.jit
def tree_of(weights):
    return empty_sum_tree(len(weights)).set(jnp.arange(len(weights)), weights)


@jax.jit
def find(tree, fractions):
    return tree.find(fractions)


@jax.jit
def with_weights(tree, indices, weights):
    return tree.set(indices, weights)


@jax.jit
def weights_and_total(tree, indices):
    return tree.get(indices), tree.total()


@settings(max_examples=50, deadline=None)
@given(
    weights=st.sampled_from(SIZES)
    .flatmap(lambda size: st.lists(st.integers(0, 20), min_size=size, max_size=size))
    .filter(any),
    fractions=st.lists(st.integers(0, 2**20 - 1), min_size=20, max_size=20),
)
def test_finds_what_a_search_in_the_cumulated_weights_finds(weights, fractions):
    # Whole weights and short fractions: every sum is exact, so the answer is too.
    fractions = np.array(fractions) / 2**20
    found = find(tree_of(np.float32(weights)), np.float32(fractions))
    mass = np.float32(fractions) * np.float32(sum(weights))
    expected = np.searchsorted(np.cumsum(weights), mass, side="right")
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_sums_hold_after_any_updates(data):
    capacity = data.draw(st.sampled_from(SIZES))
    expected = np.zeros(capacity)
    tree = empty_sum_tree(capacity)
    for _ in range(5):
        drawn = st.lists(st.integers(0, capacity - 1), min_size=4, max_size=4)
        indices = np.array(data.draw(drawn))
        weights = np.float32(indices % 7)  # an index that comes twice comes with one weight
        tree = with_weights(tree, indices, weights)
        expected[indices] = weights
    weights, total = weights_and_total(tree, np.arange(capacity))
    np.testing.assert_array_equal(weights, expected)
    assert total == expected.sum()
    levels = [np.asarray(level) for level in tree.levels]
    for below, above in itertools.pairwise(levels):
        np.testing.assert_array_equal(above.reshape(-1)[: len(below)], below.sum(-1))


def test_extreme_fractions_never_find_a_weight_of_zero():
    generator = np.random.default_rng(0)
    for _ in range(50):
        weights = generator.random(300) * (generator.random(300) < 0.1) * 1e-3
        weights[7] = 1e-6
        extremes = np.float32([0.0, 1 - 2**-24])
        assert (weights[find(tree_of(np.float32(weights)), extremes)] > 0).all()


def n_steps_by_hand(rows, index, newest, n_step, discount):
    """The row over several steps, followed one by one."""
    reward, factor, at = 0.0, 1.0, index
    while True:
        reward += factor * rows[at, -2]
        n_step -= 1
        after = (at + 1) % len(rows)
        broken = not np.array_equal(rows[after, :2], rows[at, 2:4])
        if n_step == 0 or at == newest or rows[at, -1] or broken:
            last = 1 - factor * (1 - rows[at, -1])
            return [*rows[index, :2], *rows[at, 2:4], rows[index, 4], reward, last]
        at, factor = after, factor * discount


@pytest.mark.parametrize("count", [1, 5, 12, 31])
def test_returns_over_several_steps_end_with_the_episode_and_with_the_newest_row(count):
    generator, capacity, discount = np.random.default_rng(count), 12, 0.9
    rows, state = np.zeros((capacity, 7), np.float32), generator.normal(size=2)
    for t in range(count):
        following, end = generator.normal(size=2), generator.random()
        numbers = [*state, *following, generator.integers(3), generator.normal(), end < 0.15]
        rows[t % capacity] = numbers
        state = generator.normal(size=2) if end < 0.25 else following  # at times truncated
    indices, newest = jnp.arange(min(count, capacity)), (count - 1) % capacity
    for n_step in (1, 3, 5):
        ours = n_step_rows(jnp.asarray(rows), indices, jnp.asarray(count), n_step, discount, 2)
        by_hand = [n_steps_by_hand(rows, i, newest, n_step, discount) for i in indices]
        np.testing.assert_allclose(ours, by_hand, rtol=1e-5, atol=1e-6)
