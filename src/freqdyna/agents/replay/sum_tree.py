"""A sum tree: draws an index with probability proportional to its weight.

Each node holds the sum over `BRANCHES` children instead of two, so that 100,000 weights are five
levels deep: a draw or an update is a handful of small vector operations, and not some seventeen
steps that wait for each other. `benchmarks/replay.py` compares widths.
"""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

BRANCHES = 16


class SumTree(eqx.Module):
    """Weights and the sums above them.

    `levels[0]` holds the weights; `levels[k + 1]`, read as a flat array, holds the sums of the
    rows of `levels[k]`; the last level is a single row. Sums are computed anew from their
    children, so that rounding errors do not pile up.
    """

    levels: tuple[Float[Array, "_ branches"], ...]

    def total(self) -> Float[Array, ""]:
        """The sum of all weights."""
        return self.levels[-1].sum()

    def set(self, indices: Int[Array, " k"], weights: Float[Array, " k"]) -> "SumTree":
        """Give each index its weight; an index that comes twice must come with one weight."""
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
        """For each fraction u in [0, 1), the index whose share of the total holds u.

        Walks down from the root: at each node the child is taken in whose interval of the
        cumulated sums the remaining mass falls. An index of weight zero is never found.
        """
        mass = fractions * self.total()
        indices = jnp.zeros(fractions.shape, int)
        for level in reversed(self.levels):
            sums = jnp.cumsum(level[indices], axis=-1)
            # Rounding may leave a mass just past the last child: keep it inside.
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
