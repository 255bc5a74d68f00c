"""Candidates that a search-control scores before it chooses among them."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.envs.space import Action
from freqdyna.search_control.base import Search


def uniform_candidates(
    search: Search, key: PRNGKeyArray, count: int
) -> tuple[Float[Array, "count n"], Bool[Array, " count"]]:
    """Sample states uniformly within the bounds of the state space.

    Args:
        search: What the search-control was given.
        key: A random key.
        count: The number of states.

    Returns:
        The states, shape (count, n), and which of them belong to the state space and are not
        terminal, shape (count,).

    """
    shape = (count, search.low.shape[0])
    states = jax.random.uniform(key, shape, minval=search.low, maxval=search.high)
    states = jax.vmap(search.on_manifold)(states)
    usable = jax.vmap(lambda s: search.contains(s) & ~search.terminal(s))(states)
    return states, usable


def sample_in_proportion(
    weights: Float[Array, " k"], key: PRNGKeyArray, count: int
) -> tuple[Int[Array, " count"], Bool[Array, ""]]:
    """Sample indices in proportion to weights, with replacement.

    Args:
        weights: Shape (k,); those that are not finite or below zero count as zero.
        key: A random key.
        count: The number of indices.

    Returns:
        The indices, shape (count,), and whether any weight is above zero; otherwise the indices
        mean nothing.

    """
    weights = jnp.where(jnp.isfinite(weights), jnp.maximum(weights, 0.0), 0.0)
    # Relative to the largest, so that the sum of very large or small weights is an ordinary number.
    weights = weights / jnp.clip(weights.max(), 1e-30, 1e30)
    ends = jnp.cumsum(weights)
    # Uniform numbers are in [0, 1), so an index never has weight zero, but rounding may reach the
    # end: the last index with a weight is the greatest that is returned.
    points = jax.random.uniform(key, (count,)) * ends[-1]
    chosen = jnp.searchsorted(ends, points, side="right", method="compare_all")
    last = jnp.max(jnp.where(weights > 0, jnp.arange(weights.size), 0))
    return jnp.minimum(chosen, last), ends[-1] > 0


def random_action(search: Search, key: PRNGKeyArray) -> Action:
    """A uniformly random action."""
    if search.num_actions:
        return jax.random.randint(key, (), 0, search.num_actions)
    return jax.random.uniform(
        key, search.action_low.shape, minval=search.action_low, maxval=search.action_high
    )
