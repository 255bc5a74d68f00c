"""The tabular model: counts of what each action led to from each cell."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray


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

    def draw_seen(self, key: PRNGKeyArray) -> tuple[Int[Array, ""], Int[Array, ""]]:
        """A (cell, action) pair, uniform over those seen; at least one must have been."""
        seen = (self.counts.sum(-1) > 0).reshape(-1)
        pair = jax.random.categorical(key, jnp.where(seen, 0.0, -jnp.inf))
        actions = self.counts.shape[1]
        return pair // actions, pair % actions

    def query(
        self, cell: Int[Array, ""], action: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Int[Array, ""], Bool[Array, ""]]:
        """Reward, next cell and whether it is terminal, drawn as often as they were seen."""
        next_cell = jax.random.categorical(key, jnp.log(self.counts[cell, action]))
        return self.rewards[cell, action, next_cell], next_cell, self.terminal[next_cell]
