"""Angles as points (cosine, sine) of a circle, as Acrobot and Pendulum observe them."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from freqdyna.core import unrolled

SHORTEST = 1e-6
"""A (cosine, sine) pair shorter than this has no direction."""


def on_circles(pairs: Float[Array, "angles 2"]) -> Float[Array, "angles 2"]:
    """Each (cosine, sine) pair divided by its length; (1, 0) where that is about 0."""
    length = unrolled.norm(pairs)[:, None]
    # A quotient rounded up from 1 would lie outside the box.
    units = jnp.clip(pairs / jnp.maximum(length, SHORTEST), -1, 1)
    return jnp.where(length < SHORTEST, jnp.asarray([1.0, 0.0]), units)
