"""The tabular model: counts of the outcomes of each action in each cell."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class CountModel(eqx.Module):
    """Empirical transition probabilities and mean rewards."""

    counts: Float[Array, "cells actions cells"]
    """How often (cell, action) led to each cell."""
    rewards: Float[Array, "cells actions cells"]
    """Mean reward of those transitions."""
    terminal: Bool[Array, " cells"]
    """Whether each cell was terminal."""

    @staticmethod
    def empty(cells: int, actions: int) -> "CountModel":
        """The model before the first transition."""
        shape = (cells, actions, cells)
        return CountModel(jnp.zeros(shape), jnp.zeros(shape), jnp.zeros(cells, bool))

    def learn(
        self,
        cell: Int[Array, ""],
        action: Int[Array, ""],
        reward: Float[Array, ""],
        next_cell: Int[Array, ""],
        terminal: Bool[Array, ""],
    ) -> "CountModel":
        """Add one transition; all arguments have shape ()."""
        at = (cell, action, next_cell)
        counts = self.counts.at[at].add(1.0)
        rewards = self.rewards.at[at].add((reward - self.rewards[at]) / counts[at])
        return CountModel(counts, rewards, self.terminal.at[next_cell].set(terminal))

    def draw_seen(self, fractions: Float[Array, " k"]) -> tuple[Int[Array, " k"], Int[Array, " k"]]:
        """Sample (cell, action) pairs uniformly from those visited.

        Args:
            fractions: Uniform random numbers in [0, 1), shape (k,).

        Returns:
            Cells and actions, each of shape (k,).

        """
        seen = self.counts.sum(-1).reshape(-1) > 0
        pairs = _inverse(seen.astype(fractions.dtype), fractions)
        actions = self.counts.shape[1]
        return pairs // actions, pairs % actions

    def query(
        self, cell: Int[Array, ""], action: Int[Array, ""], fraction: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Int[Array, ""], Bool[Array, ""]]:
        """Sample an outcome with its empirical probability.

        Args:
            cell: Shape ().
            action: Shape ().
            fraction: A uniform random number in [0, 1), shape ().

        Returns:
            The mean reward, the next cell, and whether it is terminal.

        """
        next_cell = _inverse(self.counts[cell, action], fraction)
        return self.rewards[cell, action, next_cell], next_cell, self.terminal[next_cell]


def _inverse(weights: Float[Array, " n"], fractions: Float[Array, "*k"]) -> Int[Array, "*k"]:
    """The indices at which the cumulative sum of the weights exceeds each fraction of the total."""
    sums = jnp.cumsum(weights)
    return jnp.searchsorted(sums, fractions * sums[-1], side="right")
