"""Sums and the like over a few numbers, written out.

Each reduction is a kernel of its own on a GPU, however small; additions written out fuse with
what comes before and after. A climbing iteration shrinks to half as many kernels by that.
"""

import functools
import operator

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

FEW = 8
"""Up to so many numbers are worth writing out."""


def total(numbers: Float[Array, "*k n"]) -> Float[Array, "*k"]:
    """The sum over the last axis."""
    if numbers.shape[-1] > FEW:
        return numbers.sum(-1)
    return functools.reduce(operator.add, (numbers[..., i] for i in range(numbers.shape[-1])))


def norm(vector: Float[Array, "*k n"]) -> Float[Array, "*k"]:
    """The Euclidean norm over the last axis."""
    return jnp.sqrt(total(vector * vector))


def every(flags: Bool[Array, "*k n"]) -> Bool[Array, "*k"]:
    """Whether all hold over the last axis."""
    return functools.reduce(operator.and_, (flags[..., i] for i in range(flags.shape[-1])))


def argmax(numbers: Float[Array, " n"]) -> Int[Array, ""]:
    """The first index of the greatest number."""
    if numbers.shape[0] > FEW:
        return jnp.argmax(numbers)
    index, greatest = jnp.zeros((), int), numbers[0]
    for i in range(1, numbers.shape[0]):
        index = jnp.where(numbers[i] > greatest, i, index)
        greatest = jnp.maximum(numbers[i], greatest)
    return index
