"""The amount of exploration at each step: a constant, or a linear schedule."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class LinearSchedule(eqx.Module):
    """A number that changes linearly from `start` to `end` in the first `steps` steps."""

    start: float | Float[Array, ""]
    end: float | Float[Array, ""]
    steps: float | Float[Array, ""]

    def __call__(self, t: Int[Array, ""]) -> Float[Array, ""]:
        """The number after `t` steps."""
        left = jnp.maximum(1 - t / self.steps, 0.0)
        return self.end + left * (self.start - self.end)


def linear_schedule(start: float, end: float, fraction: float, steps: int) -> LinearSchedule | None:
    """The schedule during a fraction of all steps; None for the constant `end`."""
    return LinearSchedule(start, end, fraction * steps) if fraction else None
