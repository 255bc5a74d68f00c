"""A transition, and its packed form: one row of numbers, so that sampling is one gather."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from freqdyna.envs.space import Action

Outcome = tuple[Float[Array, " n"], Float[Array, ""], Bool[Array, ""]]
"""Next state, reward, and whether the next state is terminal."""


class Transition(eqx.Module):
    """(s, a, r, s', whether s' is terminal); truncation does not make s' terminal."""

    state: Float[Array, " n"]
    action: Action
    reward: Float[Array, ""]
    next_state: Float[Array, " n"]
    terminal: Bool[Array, ""]

    def pack(self) -> Float[Array, " width"]:
        """The row (s, s', a, r, terminal)."""
        outcome = jnp.stack([self.reward, self.terminal.astype(float)])
        action = jnp.atleast_1d(self.action.astype(float))
        return jnp.concatenate([self.state, self.next_state, action, outcome])

    @staticmethod
    def unpack(row: Float[Array, " width"], continuous: int = 0) -> "Transition":
        """The transition of a packed row.

        Args:
            row: What `pack` returned, shape (width,).
            continuous: The number of continuous actions; 0 if the action is discrete.

        """
        size = max(1, continuous)
        n = (row.shape[0] - size - 2) // 2
        action = row[2 * n : 2 * n + size] if continuous else row[2 * n].astype(int)
        reward, terminal = row[-2], row[-1]
        return Transition(row[:n], action, reward, row[n : 2 * n], terminal > 0)


def row_width(observation_size: int, action_size: int = 1) -> int:
    """The length of a packed transition."""
    return 2 * observation_size + action_size + 2
