"""Units of a toy experiment. Worker processes import this file, so it imports little."""

from functools import partial

import jax.numpy as jnp
import numpy as np

from reproduction.base import Unit


def inverse(number, work):
    """One over a number, which fails for zero, and a sine, which JAX computes."""
    return {"inverse": np.array([1 / number]), "sine": np.asarray(jnp.sin(jnp.ones(1) * number))}


def inverses(*numbers):
    """One unit for each number."""
    return [Unit(f"part {number}", {}, partial(inverse, number)) for number in numbers]
