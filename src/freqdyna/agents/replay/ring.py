"""Uniform experience replay: a ring buffer of rows."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from freqdyna.agents.replay.base import Replay
from freqdyna.config import Count


class RingState(eqx.Module):
    """The rows; unused rows are zero and never sampled."""

    rows: Float[Array, "capacity width"]


class UniformReplay(Replay[RingState]):
    """Every stored transition is equally likely."""

    capacity: Count = eqx.field(static=True, default=100_000)
    """The capacity of the buffer, in transitions."""

    def init(self, width: int) -> RingState:
        """An empty buffer."""
        return RingState(jnp.zeros((self.capacity, width)))

    def add(
        self, state: RingState, row: Float[Array, " width"], count: Int[Array, ""]
    ) -> RingState:
        """Overwrite the oldest row; see `Replay.add`."""
        return RingState(state.rows.at[count % self.capacity].set(row))

    def sample(
        self, state: RingState, bits: UInt32[Array, " batch"], count: Int[Array, ""]
    ) -> tuple[Float[Array, "batch width"], Int[Array, " batch"]]:
        """Sample uniformly from the stored rows; see `Replay.sample`."""
        indices = uniform_indices(bits, jnp.minimum(count, self.capacity))
        return state.rows[indices], indices

    def update_priorities(
        self, state: RingState, indices: Int[Array, " batch"], differences: Float[Array, " batch"]
    ) -> RingState:
        """Return the buffer unchanged: it has no priorities."""
        return state


def uniform_indices(bits: UInt32[Array, " batch"], size: Int[Array, ""]) -> Int[Array, " batch"]:
    """Indices in [0, size) from random bits, one word per index.

    They are uniform up to size / 2^32, which is less than 3e-5 for 100,000 rows.
    """
    return (bits % size.astype(jnp.uint32)).astype(int)
