"""Replay buffers (the paper's B): uniform, and prioritized with a sum tree."""

import abc
import math
from typing import Generic, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from freqdyna.config import Component, Count, NotNegative

ReplayState = TypeVar("ReplayState")


class Replay(Component, eqx.Module, Generic[ReplayState]):
    """A buffer of packed transitions; the oldest are overwritten first.

    `count` is the number of transitions added so far. It is a function of the time step, so it is
    passed in rather than stored: it is then the same number for all seeds of a batch, and a write
    is a cheap slice update. Sampling is a deterministic function of random bits, one word per
    sample, so that a training step draws all of its random numbers in one call.
    """

    capacity: eqx.AbstractVar[int]

    @abc.abstractmethod
    def init(self, width: int) -> ReplayState:
        """An empty buffer for rows of `width` numbers."""

    @abc.abstractmethod
    def add(
        self, state: ReplayState, row: Float[Array, " width"], count: Int[Array, ""]
    ) -> ReplayState:
        """Store one packed transition; `count` were added before it."""

    @abc.abstractmethod
    def sample(
        self, state: ReplayState, bits: UInt32[Array, " batch"], count: Int[Array, ""]
    ) -> tuple[Float[Array, "batch width"], Int[Array, " batch"]]:
        """Packed transitions, sampled with replacement, and their indices; `count` is positive."""

    @abc.abstractmethod
    def update_priorities(
        self,
        state: ReplayState,
        indices: Int[Array, " batch"],
        differences: Float[Array, " batch"],
    ) -> ReplayState:
        """Update the priorities of sampled transitions by their temporal-difference errors."""


def n_step_rows(
    stored: Float[Array, "capacity width"],
    indices: Int[Array, " batch"],
    count: Int[Array, ""],
    n_step: int,
    discount: float | Float[Array, ""],
    observation_size: int,
) -> Float[Array, "batch width"]:
    """Packed transitions over up to `n_step` steps of an episode, from the stored ones at indices.

    The reward is the discounted sum of rewards. The last column is 1 − γ^(k−1) after k steps, or 1
    if the last state is terminal. An episode ends where the next stored state is another one.
    """
    capacity, n = len(stored), observation_size
    newest = (count - 1) % capacity
    rows = stored[indices]
    reward, state, last = rows[:, -2], rows[:, n : 2 * n], rows[:, -1]
    goes_on = last == 0
    factor: float | Float[Array, ""] = 1.0
    for _ in range(n_step - 1):
        goes_on = goes_on & (indices != newest)
        indices, factor = (indices + 1) % capacity, factor * discount
        following = stored[indices]
        goes_on = goes_on & (following[:, :n] == state).all(-1)
        reward = reward + jnp.where(goes_on, factor * following[:, -2], 0.0)
        state = jnp.where(goes_on[:, None], following[:, n : 2 * n], state)
        last = jnp.where(goes_on, 1 - factor * (1 - following[:, -1]), last)
        goes_on = goes_on & (following[:, -1] == 0)
    ends = jnp.stack([reward, last], axis=1)
    return jnp.concatenate([rows[:, :n], state, rows[:, 2 * n : -2], ends], axis=1)


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


BRANCHES = 16


class SumTree(eqx.Module):
    """Weights and the sums above them, to sample an index in proportion to its weight.

    Each node has `BRANCHES` children instead of two, so that a tree of 100,000 weights has five
    levels: a sample or an update takes a few small vector operations instead of about seventeen
    sequential steps. `benchmarks/replay.py` compares branching factors.

    `levels[0]` contains the weights; `levels[k + 1]`, as a flat array, contains the sums of the
    rows of `levels[k]`; the last level is a single row. Sums are always recomputed from their
    children, so that rounding errors do not accumulate.
    """

    levels: tuple[Float[Array, "_ branches"], ...]

    def total(self) -> Float[Array, ""]:
        """The sum of all weights."""
        return self.levels[-1].sum()

    def set(self, indices: Int[Array, " k"], weights: Float[Array, " k"]) -> "SumTree":
        """Set weights; if an index occurs twice, both must have the same weight."""
        levels = []
        for level in self.levels:
            parents = indices // BRANCHES
            level = level.at[parents, indices % BRANCHES].set(weights)
            levels.append(level)
            indices, weights = parents, level[parents].sum(-1)
        return SumTree(tuple(levels))

    def get(self, indices: Int[Array, " k"]) -> Float[Array, " k"]:
        """The weights at `indices`."""
        return self.levels[0][indices // BRANCHES, indices % BRANCHES]

    def find(self, fractions: Float[Array, " k"]) -> Int[Array, " k"]:
        """The indices at fractions in [0, 1) of the total weight.

        The search descends from the root to the child whose interval of cumulative sums contains
        the remaining mass. An index of weight zero is never returned.
        """
        mass = fractions * self.total()
        indices = jnp.zeros(fractions.shape, int)
        for level in reversed(self.levels):
            sums = jnp.cumsum(level[indices], axis=-1)
            # Rounding may leave a mass just beyond the last child: keep it inside.
            mass = jnp.minimum(mass, jnp.nextafter(sums[:, -1], 0.0))
            child = (sums <= mass[:, None]).sum(-1)
            before = jnp.take_along_axis(sums, jnp.maximum(child - 1, 0)[:, None], axis=-1)[:, 0]
            mass = mass - jnp.where(child > 0, before, 0.0)
            indices = indices * BRANCHES + child
        return indices


def empty_sum_tree(capacity: int) -> SumTree:
    """A tree over `capacity` weights, all zero."""
    levels = []
    size = capacity
    while True:
        size = math.ceil(size / BRANCHES)
        levels.append(jnp.zeros((size, BRANCHES)))
        if size == 1:
            return SumTree(tuple(levels))


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
