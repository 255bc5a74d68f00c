"""Tabular Q-learning."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray


class QTable(eqx.Module):
    """One value for each cell and action."""

    values: Float[Array, "cells actions"]

    def act(
        self, cell: Int[Array, ""], epsilon: float | Float[Array, ""], key: PRNGKeyArray
    ) -> Int[Array, ""]:
        """The epsilon-greedy action; ties are broken at random."""
        explore_key, action_key, tie_key = jax.random.split(key, 3)
        row = self.values[cell]
        best = jnp.where(row == row.max(), jax.random.uniform(tie_key, row.shape), -1.0)
        random_action = jax.random.randint(action_key, (), 0, row.shape[0])
        explore = jax.random.uniform(explore_key) < epsilon
        return jnp.where(explore, random_action, jnp.argmax(best))

    def update(
        self,
        cell: Int[Array, ""],
        action: Int[Array, ""],
        reward: Float[Array, ""],
        next_cell: Int[Array, ""],
        terminal: Bool[Array, ""],
        discount: float | Float[Array, ""],
        learning_rate: float | Float[Array, ""],
    ) -> tuple["QTable", Float[Array, ""]]:
        """Update one value towards r + γ max Q(s', ·).

        Returns:
            The new table, and the temporal-difference error.

        """
        bootstrap = jnp.where(terminal, 0.0, self.values[next_cell].max())
        difference = reward + discount * bootstrap - self.values[cell, action]
        values = self.values.at[cell, action].add(learning_rate * difference)
        return QTable(values), difference
