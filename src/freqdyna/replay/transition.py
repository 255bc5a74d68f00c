"""One transition, and its packed form: a row of numbers, so that a sample is one gather."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Transition(eqx.Module):
    """(s, a, r, s', whether s' is terminal); a truncated episode is not terminal."""

    state: Float[Array, " n"]
    action: Int[Array, ""]
    reward: Float[Array, ""]
    next_state: Float[Array, " n"]
    terminal: Bool[Array, ""]

    def pack(self) -> Float[Array, " width"]:
        """The row (s, s', a, r, terminal)."""
        scalars = jnp.stack([self.action.astype(float), self.reward, self.terminal.astype(float)])
        return jnp.concatenate([self.state, self.next_state, scalars])

    @staticmethod
    def unpack(row: Float[Array, " width"]) -> "Transition":
        """The transition of a row made by `pack`."""
        n = (row.shape[0] - 3) // 2
        action, reward, terminal = row[2 * n], row[2 * n + 1], row[2 * n + 2]
        return Transition(row[:n], action.astype(int), reward, row[n : 2 * n], terminal > 0)


def row_width(observation_size: int) -> int:
    """The length of a packed transition."""
    return 2 * observation_size + 3
