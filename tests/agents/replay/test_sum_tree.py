import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freqdyna.agents.replay import BRANCHES, empty_sum_tree

SIZES = [1, 2, BRANCHES - 1, BRANCHES, BRANCHES + 1, BRANCHES**2, BRANCHES**2 + 1, 600]
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


@partial(jax.jit, static_argnames="capacity")
def empty(capacity):
    return empty_sum_tree(capacity)


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
    tree = empty(capacity)
    for _ in range(5):
        indices = np.array(
            data.draw(st.lists(st.integers(0, capacity - 1), min_size=4, max_size=4))
        )
        weights = np.float32(indices % 7)  # an index that comes twice comes with one weight
        tree = with_weights(tree, indices, weights)
        expected[indices] = weights
    weights, total = weights_and_total(tree, np.arange(capacity))
    np.testing.assert_array_equal(weights, expected)
    assert total == expected.sum()
    levels = [np.asarray(level) for level in tree.levels]
    for below, above in itertools.pairwise(levels):
        np.testing.assert_array_equal(above.reshape(-1)[: len(below)], below.sum(-1))


@pytest.mark.parametrize("fraction", [0.0, 1 - 2**-24])
def test_extreme_fractions_never_find_a_weight_of_zero(fraction):
    generator = np.random.default_rng(0)
    for _ in range(50):
        weights = generator.random(300) * (generator.random(300) < 0.1) * 1e-3
        weights[7] = 1e-6
        found = int(find(tree_of(np.float32(weights)), np.full(1, fraction, np.float32))[0])
        assert weights[found] > 0
