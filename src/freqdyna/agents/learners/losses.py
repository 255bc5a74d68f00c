"""The losses of temporal-difference errors."""

from typing import Literal

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

Loss = Literal["squared", "huber"]
"""The loss of an error d: d², or Huber's: d²/2 up to |d| = 1 and |d| − 1/2 beyond."""


def mean_loss(loss: Loss, errors: Float[Array, " batch"]) -> Float[Array, ""]:
    """The mean loss of temporal-difference errors."""
    return jnp.mean(errors**2 if loss == "squared" else optax.huber_loss(errors))


def loss_slope(loss: Loss, errors: Float[Array, "batch 1"]) -> Float[Array, "batch 1"]:
    """The derivative of the mean loss with respect to each prediction, in closed form.

    Args:
        loss: The loss.
        errors: Targets minus predictions, shape (batch, 1).

    Returns:
        Shape (batch, 1).

    """
    count = errors.shape[0]
    if loss == "squared":
        return -2 / count * errors
    return -1 / count * jnp.clip(errors, -1.0, 1.0)
