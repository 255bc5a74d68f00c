"""One transition, and its packed form: a row of numbers, so that a sample is one gather."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from freqdyna.envs.space import Action


class Transition(eqx.Module):
    """(s, a, r, s', whether s' is terminal); a truncated episode is not terminal."""

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
        """The transition of a row of `pack`, of a numbered action or so many continuous ones."""
        size = max(1, continuous)
        n = (row.shape[0] - size - 2) // 2
        action = row[2 * n : 2 * n + size] if continuous else row[2 * n].astype(int)
        reward, terminal = row[-2], row[-1]
        return Transition(row[:n], action, reward, row[n : 2 * n], terminal > 0)


def row_width(observation_size: int, action_size: int = 1) -> int:
    """The length of a packed transition."""
    return 2 * observation_size + action_size + 2
