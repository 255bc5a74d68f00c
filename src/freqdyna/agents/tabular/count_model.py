"""The tabular model: counts of what each action led to from each cell."""

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
    """Cells that ended an episode."""

    @staticmethod
    def empty(cells: int, actions: int) -> "CountModel":
        """Nothing seen yet."""
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
        """Take note of one transition."""
        at = (cell, action, next_cell)
        counts = self.counts.at[at].add(1.0)
        rewards = self.rewards.at[at].add((reward - self.rewards[at]) / counts[at])
        return CountModel(counts, rewards, self.terminal.at[next_cell].set(terminal))

    def draw_seen(self, fractions: Float[Array, " k"]) -> tuple[Int[Array, " k"], Int[Array, " k"]]:
        """(cell, action) pairs, uniform over those seen, one for each number in [0, 1)."""
        seen = self.counts.sum(-1).reshape(-1) > 0
        pairs = _inverse(seen.astype(fractions.dtype), fractions)
        actions = self.counts.shape[1]
        return pairs // actions, pairs % actions

    def query(
        self, cell: Int[Array, ""], action: Int[Array, ""], fraction: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Int[Array, ""], Bool[Array, ""]]:
        """Reward, next cell and whether it is terminal, as often as they were seen.

        `fraction` is a number in [0, 1) that decides which.
        """
        next_cell = _inverse(self.counts[cell, action], fraction)
        return self.rewards[cell, action, next_cell], next_cell, self.terminal[next_cell]


def _inverse(weights: Float[Array, " n"], fractions: Float[Array, "*k"]) -> Int[Array, "*k"]:
    """The places where the running sum of the weights passes each fraction of their total."""
    sums = jnp.cumsum(weights)
    return jnp.searchsorted(sums, fractions * sums[-1], side="right")
