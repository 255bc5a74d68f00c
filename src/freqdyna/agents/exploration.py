"""The amount of exploration at each step: a constant, or a linear schedule."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from freqdyna.config import Config


class LinearSchedule(eqx.Module):
    """A number that changes linearly from `start` to `end` in the first `steps` steps."""

    start: float | Float[Array, ""]
    end: float | Float[Array, ""]
    steps: float | Float[Array, ""]

    def __call__(self, t: Int[Array, ""]) -> Float[Array, ""]:
        """The number after `t` steps."""
        left = jnp.maximum(1 - t / self.steps, 0.0)
        return self.end + left * (self.start - self.end)


Exploration = float | Float[Array, ""] | LinearSchedule
"""The amount of exploration (epsilon), from 0 (greedy) to 1 (random)."""


def exploration_of(config: Config) -> Exploration:
    """The exploration that the settings describe; the steps of the warm-up count as steps."""
    steps = config.exploration_fraction * config.steps
    if steps == 0:
        return config.exploration
    return LinearSchedule(config.exploration_initial, config.exploration, steps)


def exploration_at(exploration: Exploration, t: Int[Array, ""]) -> float | Float[Array, ""]:
    """The amount of exploration after `t` steps, from 0 (greedy) to 1 (random)."""
    return exploration(t) if isinstance(exploration, LinearSchedule) else exploration
