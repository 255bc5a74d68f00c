"""The paper's PrioritizedER: proportional, half of a batch uniform, no importance sampling."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from freqdyna.agents.replay.base import Replay
from freqdyna.agents.replay.ring import uniform_indices
from freqdyna.agents.replay.sum_tree import SumTree, empty_sum_tree
from freqdyna.config import Count, NotNegative

SMALLEST_PRIORITY = 1e-6


class PrioritizedState(eqx.Module):
    """The rows, the sum tree of their priorities, and the highest priority so far."""

    rows: Float[Array, "capacity width"]
    tree: SumTree
    greatest: Float[Array, ""]


class PrioritizedReplay(Replay[PrioritizedState]):
    """Half of a batch is sampled in proportion to |temporal-difference error|^exponent.

    The other half is uniform, "as a strategy for bias correction" (the paper, reproducibility
    section). A new transition gets the highest priority so far.
    """

    capacity: Count = eqx.field(static=True, default=100_000)
    """The capacity of the buffer, in transitions."""
    exponent: NotNegative = 0.6
    """Priorities are |temporal-difference error| to this power."""

    def init(self, width: int) -> PrioritizedState:
        """An empty buffer."""
        rows = jnp.zeros((self.capacity, width))
        return PrioritizedState(rows, empty_sum_tree(self.capacity), jnp.ones(()))

    def add(
        self, state: PrioritizedState, row: Float[Array, " width"], count: Int[Array, ""]
    ) -> PrioritizedState:
        """Overwrite the oldest row and its priority; see `Replay.add`."""
        index = count % self.capacity
        tree = state.tree.set(index[None], state.greatest[None])
        return PrioritizedState(state.rows.at[index].set(row), tree, state.greatest)

    def sample(
        self, state: PrioritizedState, bits: UInt32[Array, " batch"], count: Int[Array, ""]
    ) -> tuple[Float[Array, "batch width"], Int[Array, " batch"]]:
        """Sample half by priority and half uniformly; see `Replay.sample`."""
        half = bits.shape[0] // 2
        fractions = (bits[:half] >> 8).astype(jnp.float32) * 2.0**-24
        by_priority = state.tree.find(fractions)
        uniform = uniform_indices(bits[half:], jnp.minimum(count, self.capacity))
        indices = jnp.concatenate([by_priority, uniform])
        return state.rows[indices], indices

    def update_priorities(
        self,
        state: PrioritizedState,
        indices: Int[Array, " batch"],
        differences: Float[Array, " batch"],
    ) -> PrioritizedState:
        """Set the priorities of the whole batch; see `Replay.update_priorities`."""
        priorities = (jnp.abs(differences) + SMALLEST_PRIORITY) ** self.exponent
        # A diverged network must not corrupt the tree: NaN and infinity count as zero.
        priorities = jnp.nan_to_num(priorities, nan=0.0, posinf=0.0)
        greatest = jnp.maximum(state.greatest, priorities.max())
        return PrioritizedState(state.rows, state.tree.set(indices, priorities), greatest)
