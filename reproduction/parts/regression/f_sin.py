"""f_sin, the function of the paper's regression experiments (equation 1)."""

import jax.numpy as jnp
from jaxtyping import Array, Float

LOW, HIGH = -2.0, 2.0
"""The interval of interest; the high frequency is below zero."""


def f_sin(x: Float[Array, "*d"]) -> Float[Array, "*d"]:
    """sin(8πx) below zero, sin(πx) from zero on, elementwise."""
    return jnp.where(x < 0, jnp.sin(8 * jnp.pi * x), jnp.sin(jnp.pi * x))
