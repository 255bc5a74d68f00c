"""The search-control queue (the paper's B_s): a ring buffer of states."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from freqdyna.agents.replay.ring import uniform_indices
from freqdyna.search_control.base import Proposal


class Queue(eqx.Module):
    """The states to plan from."""

    rows: Float[Array, "capacity n"]
    count: Int[Array, ""]
    """States added so far; it differs between seeds, because a search may find fewer than m."""

    @staticmethod
    def empty(capacity: int, n: int) -> "Queue":
        """A queue without states."""
        return Queue(jnp.zeros((capacity, n)), jnp.zeros((), int))

    def is_empty(self) -> Bool[Array, ""]:
        """Whether no state has been added yet."""
        return self.count == 0

    def add(self, proposal: Proposal) -> "Queue":
        """Add the states that a search found, except for those that are not finite."""
        capacity = self.rows.shape[0]
        stored = proposal.finite()
        order = jnp.cumsum(stored) - 1  # among the stored states
        places = jnp.where(stored, (self.count + order) % capacity, capacity)
        rows = self.rows.at[places].set(proposal.states, mode="drop")
        # Avoid overflow; once the queue is full only the count modulo the capacity matters.
        count = self.count + stored.sum()
        return Queue(rows, jnp.where(count >= 2 * capacity, count - capacity, count))

    def sample(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """Sample states uniformly with replacement; zeros while the queue is empty.

        Args:
            bits: Random bits, one word per state, shape (k,).

        """
        size = jnp.clip(self.count, 1, self.rows.shape[0])
        return self.rows[uniform_indices(bits, size)]
