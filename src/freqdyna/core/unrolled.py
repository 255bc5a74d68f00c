"""Small loops and sums, unrolled where that is faster.

On a GPU every reduction is a kernel; additions that are written out fuse with what is around them,
which halves the kernels of a climbing iteration. The host also checks a loop's condition before
every iteration, which costs as much as a small network. Several iterations are therefore unrolled
there, with the same result; a CPU would only take longer to compile.
"""

import functools
import operator
from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

FEW = 8
"""Reductions of at most this many numbers are written out."""
ITERATIONS_AT_ONCE = 8

Carry = TypeVar("Carry")


def total(numbers: Float[Array, "*k n"]) -> Float[Array, "*k"]:
    """The sum over the last axis."""
    if numbers.shape[-1] > FEW:
        return numbers.sum(-1)
    return functools.reduce(operator.add, (numbers[..., i] for i in range(numbers.shape[-1])))


def norm(vector: Float[Array, "*k n"]) -> Float[Array, "*k"]:
    """The Euclidean norm over the last axis."""
    return jnp.sqrt(total(vector * vector))


def every(flags: Bool[Array, "*k n"]) -> Bool[Array, "*k"]:
    """Whether all flags are true along the last axis."""
    if flags.shape[-1] > FEW:
        return flags.all(-1)
    return functools.reduce(operator.and_, (flags[..., i] for i in range(flags.shape[-1])))


def argmax(numbers: Float[Array, " n"]) -> Int[Array, ""]:
    """The index of the largest number; the first one if there are several."""
    if numbers.shape[0] > FEW:
        return jnp.argmax(numbers)
    index, greatest = jnp.zeros((), int), numbers[0]
    for i in range(1, numbers.shape[0]):
        index = jnp.where(numbers[i] > greatest, i, index)
        greatest = jnp.maximum(numbers[i], greatest)
    return index


def repeat(
    iterations: int,
    body: Callable[[Int[Array, ""], Carry], Carry],
    carry: Carry,
    most_at_once: int = ITERATIONS_AT_ONCE,
) -> Carry:
    """The carry after body(0, ·), ..., body(iterations - 1, ·), like `jax.lax.fori_loop`."""
    # A divisor of the iterations: a remainder would be compiled separately.
    most = min(most_at_once, _iterations_at_once())
    at_once = max(k for k in range(1, most + 1) if iterations % k == 0)
    return jax.lax.fori_loop(0, iterations, body, carry, unroll=at_once)


def repeat_while(
    unfinished: Callable[[Carry], Bool[Array, ""]],
    body: Callable[[Carry], Carry],
    carry: Carry,
    most_at_once: int = ITERATIONS_AT_ONCE,
) -> Carry:
    """The first carry for which `unfinished` is false, like `jax.lax.while_loop`."""

    def several(carry: Carry) -> Carry:
        carry = body(carry)
        for _ in range(min(most_at_once, _iterations_at_once()) - 1):
            running, after = unfinished(carry), body(carry)
            carry = jax.tree.map(
                lambda new, old, running=running: jnp.where(running, new, old), after, carry
            )
        return carry

    return jax.lax.while_loop(unfinished, several, carry)


def _iterations_at_once() -> int:
    return 1 if jax.default_backend() == "cpu" else ITERATIONS_AT_ONCE
