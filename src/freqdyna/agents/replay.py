"""The replay buffer (the paper's B): samples by priority, with a sum tree, and uniform ones."""

import itertools
import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from freqdyna.config import Component, Count, NotNegative, Share
from freqdyna.core.unrolled import every


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
        goes_on = goes_on & every(following[:, :n] == state)
        reward = reward + jnp.where(goes_on, factor * following[:, -2], 0.0)
        state = jnp.where(goes_on[:, None], following[:, n : 2 * n], state)
        last = jnp.where(goes_on, 1 - factor * (1 - following[:, -1]), last)
        goes_on = goes_on & (following[:, -1] == 0)
    ends = jnp.stack([reward, last], axis=1)
    return jnp.concatenate([rows[:, :n], state, rows[:, 2 * n : -2], ends], axis=1)


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
            # Sums over few numbers are written out: two kernels per level on a GPU, not three.
            sums = list(itertools.accumulate(jnp.moveaxis(level[indices], -1, 0)))
            # Rounding may leave a mass just beyond the last child: keep it inside.
            mass = jnp.minimum(mass, jnp.nextafter(sums[-1], 0.0))
            child, before = jnp.zeros_like(indices), jnp.zeros_like(mass)
            for up_to in sums:
                child = child + (up_to <= mass)
                before = jnp.where(up_to <= mass, up_to, before)
            mass = mass - before
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


class ReplayState(eqx.Module):
    """The rows; unused rows are zero and never sampled."""

    rows: Float[Array, "capacity width"]
    tree: SumTree | None
    """The sum tree of their priorities; None if samples are uniform."""
    greatest: Float[Array, ""] | None
    """The highest priority so far."""


class ReplayBuffer(Component, eqx.Module):
    """A buffer of packed transitions; the oldest are overwritten first.

    A share of each mini-batch is sampled in proportion to |temporal-difference error|^exponent. The
    others are uniform, "as a strategy for bias correction" (the paper, reproducibility section). A
    new transition gets the highest priority so far.

    `count` is the number of transitions added so far. It is a function of the time step, so it is
    passed in rather than stored: it is then the same number for all seeds of a batch, and a write
    is a cheap slice update. Sampling is a deterministic function of random bits, one word per
    sample, so that a training step draws all of its random numbers in one call.
    """

    capacity: Count = eqx.field(static=True, default=100_000)
    """The capacity of the buffer, in transitions."""
    prioritized_share: Share = eqx.field(static=True, default=0.5)
    """The share of a mini-batch that is sampled by priority; 0 for uniform replay."""
    exponent: NotNegative = 0.6
    """Priorities are |temporal-difference error| to this power."""

    def init(self, width: int) -> ReplayState:
        """An empty buffer for rows of `width` numbers."""
        rows = jnp.zeros((self.capacity, width))
        if self.prioritized_share == 0:
            return ReplayState(rows, None, None)
        return ReplayState(rows, empty_sum_tree(self.capacity), jnp.ones(()))

    def add(
        self, state: ReplayState, row: Float[Array, " width"], count: Int[Array, ""]
    ) -> ReplayState:
        """Overwrite the oldest row and its priority; `count` were added before."""
        index, tree = count % self.capacity, state.tree
        if tree is not None:
            assert state.greatest is not None
            tree = tree.set(index[None], state.greatest[None])
        return ReplayState(state.rows.at[index].set(row), tree, state.greatest)

    def sample(
        self, state: ReplayState, bits: UInt32[Array, " batch"], count: Int[Array, ""]
    ) -> tuple[Float[Array, "batch width"], Int[Array, " batch"]]:
        """Packed transitions, sampled with replacement, and their indices; `count` is positive."""
        by_priority = round(self.prioritized_share * len(bits))
        indices = uniform_indices(bits[by_priority:], jnp.minimum(count, self.capacity))
        if state.tree is not None:
            fractions = (bits[:by_priority] >> 8).astype(jnp.float32) * 2.0**-24
            indices = jnp.concatenate([state.tree.find(fractions), indices])
        return state.rows[indices], indices

    def update_priorities(
        self,
        state: ReplayState,
        indices: Int[Array, " batch"],
        differences: Float[Array, " batch"],
    ) -> ReplayState:
        """Set the priorities of sampled transitions by their temporal-difference errors."""
        if state.tree is None or len(indices) == 0:
            return state
        assert state.greatest is not None
        priorities = (jnp.abs(differences) + SMALLEST_PRIORITY) ** self.exponent
        # A diverged network must not corrupt the tree: NaN and infinity count as zero.
        priorities = jnp.nan_to_num(priorities, nan=0.0, posinf=0.0)
        greatest = jnp.maximum(state.greatest, priorities.max())
        return ReplayState(state.rows, state.tree.set(indices, priorities), greatest)
