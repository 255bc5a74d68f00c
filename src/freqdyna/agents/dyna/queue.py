"""The search-control queue (the paper's B_s): a ring of states, oldest overwritten first."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from freqdyna.agents.replay.ring import uniform_indices
from freqdyna.search_control.base import Proposal


class Queue(eqx.Module):
    """States to plan from."""

    rows: Float[Array, "capacity n"]
    count: Int[Array, ""]
    """States ever added; it differs between seeds, for climbs may end with fewer than m."""

    @staticmethod
    def empty(capacity: int, n: int) -> "Queue":
        """A queue without states."""
        return Queue(jnp.zeros((capacity, n)), jnp.zeros((), int))

    def is_empty(self) -> Bool[Array, ""]:
        """Whether nothing was ever added."""
        return self.count == 0

    def add(self, proposal: Proposal) -> "Queue":
        """Add what a search found."""
        capacity = self.rows.shape[0]
        order = jnp.arange(proposal.states.shape[0])
        places = jnp.where(order < proposal.count, (self.count + order) % capacity, capacity)
        rows = self.rows.at[places].set(proposal.states, mode="drop")
        # Counting stops short of overflow; only the count modulo the capacity matters by then.
        count = self.count + proposal.count
        return Queue(rows, jnp.where(count >= 2 * capacity, count - capacity, count))

    def sample(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """Uniform draws with replacement; zeros while the queue is empty."""
        size = jnp.clip(self.count, 1, self.rows.shape[0])
        return self.rows[uniform_indices(bits, size)]
