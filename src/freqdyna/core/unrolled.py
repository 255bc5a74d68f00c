"""Small loops and sums laid out for the device at hand.

A reduction is a kernel of its own on a GPU, however small; additions written out fuse with what
comes before and after. A climbing iteration needs half as many kernels that way.

On an accelerator the host also checks a loop's condition before every iteration, which costs as
much as a small network's kernels. So several iterations are laid out one after another there, with
the same outcome. A CPU gains nothing from that, and compiles longer.
"""

import functools
import operator
from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

FEW = 8
"""Up to so many numbers are worth writing out."""
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


def repeat(iterations: int, body: Callable[[Int[Array, ""], Carry], Carry], carry: Carry) -> Carry:
    """`carry` after body(0, ·), ..., body(iterations - 1, ·)."""
    # A divisor of the iterations: what is left over would be compiled once more.
    at_once = max(k for k in range(1, _iterations_at_once() + 1) if iterations % k == 0)
    return jax.lax.fori_loop(0, iterations, body, carry, unroll=at_once)


def repeat_while(
    unfinished: Callable[[Carry], Bool[Array, ""]], body: Callable[[Carry], Carry], carry: Carry
) -> Carry:
    """`carry` after as many iterations of `body` as it takes for `unfinished` to fail."""

    def several(carry: Carry) -> Carry:
        carry = body(carry)
        for _ in range(_iterations_at_once() - 1):
            go_on, after = unfinished(carry), body(carry)
            carry = jax.tree.map(
                lambda new, old, go_on=go_on: jnp.where(go_on, new, old), after, carry
            )
        return carry

    return jax.lax.while_loop(unfinished, several, carry)


def _iterations_at_once() -> int:
    return 1 if jax.default_backend() == "cpu" else ITERATIONS_AT_ONCE
