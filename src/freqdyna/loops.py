"""Loops laid out for the device at hand.

On an accelerator the host looks at a loop's condition before every turn, which costs as much as a
small network's kernels. So several turns are laid out one after another there, with the same
outcome. A CPU gains nothing from that, and compiles longer.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

TURNS_AT_ONCE = 8

Carry = TypeVar("Carry")


def repeat(turns: int, body: Callable[[Int[Array, ""], Carry], Carry], carry: Carry) -> Carry:
    """`carry` after body(0, ·), ..., body(turns - 1, ·)."""
    # A divisor of the turns: what is left over would be compiled once more.
    at_once = max(k for k in range(1, _turns_at_once() + 1) if turns % k == 0)
    return jax.lax.fori_loop(0, turns, body, carry, unroll=at_once)


def repeat_while(
    unfinished: Callable[[Carry], Bool[Array, ""]], body: Callable[[Carry], Carry], carry: Carry
) -> Carry:
    """`carry` after as many turns of `body` as it takes for `unfinished` to fail."""

    def several(carry: Carry) -> Carry:
        carry = body(carry)
        for _ in range(_turns_at_once() - 1):
            go_on, after = unfinished(carry), body(carry)
            carry = jax.tree.map(
                lambda new, old, go_on=go_on: jnp.where(go_on, new, old), after, carry
            )
        return carry

    return jax.lax.while_loop(unfinished, several, carry)


def _turns_at_once() -> int:
    return 1 if jax.default_backend() == "cpu" else TURNS_AT_ONCE
