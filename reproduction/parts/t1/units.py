"""What T1 integrates: functions that do and do not vanish on the boundary of the unit ball.

They are named after their behaviour there: `flat` vanishes together with its gradient, `zero`
vanishes but its gradient does not, `jump` does not vanish.
"""

import functools
import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.frequency import Function
from reproduction.base import Columns, Unit, Work
from reproduction.parts.regression.f_sin import f_sin
from reproduction.theory import SETTINGS, theorem_identities

CUTOFFS = {1: (1, 2, 4, 8, 16, 32, 64), 2: (1, 2, 4, 8, 16, 32)}
QUICK = (1, 2, 4, 8)


def _left(y: Float[Array, " n"]) -> Float[Array, ""]:
    """1 − ‖y‖²: zero on the boundary."""
    return 1 - jnp.sum(y**2)


CASES: dict[str, tuple[str, Function, float]] = {
    "(1 − r²)⁴": ("flat", lambda y: _left(y) ** 4, 0.0),
    "(1 − r²)⁴ cos(4πy₁ + 0.3)": (
        "flat",
        lambda y: _left(y) ** 4 * jnp.cos(4 * math.pi * y[0] + 0.3),
        0.0,
    ),
    "1 − r²": ("zero", _left, 0.0),
    "f_sin around −1": ("zero", lambda y: f_sin(y[0]), -1.0),
    "cos(2πy₁)": ("jump", lambda y: jnp.cos(2 * math.pi * y[0]), 0.0),
    "sin(8πy) around −0.9": ("jump", lambda y: jnp.sin(8 * math.pi * y[0]), -0.9),
}
"""Each function: its behaviour on the boundary, itself, and the first coordinate of the centre.

The waves around −1 and −0.9 are only for one dimension.
"""


def cases(n: int) -> dict[str, tuple[str, Function, float]]:
    """The functions for n dimensions."""
    return {name: case for name, case in CASES.items() if n == 1 or "around" not in name}


def units(quick: bool) -> list[Unit]:
    """One unit for each dimension."""
    cutoffs = {n: QUICK if quick else CUTOFFS[n] for n in (1, 2)}
    return [
        Unit(
            f"{n}-d",
            {
                "functions": {
                    name: {"boundary": boundary, "centre": _centre(n, first)}
                    for name, (boundary, _, first) in cases(n).items()
                },
                "cutoffs": list(cutoffs[n]),
                "quadrature": SETTINGS,
            },
            functools.partial(_identities, n, cutoffs[n]),
        )
        for n in (1, 2)
    ]


def _centre(n: int, first: float) -> list[float]:
    return [first, 0.0][:n]


def _identities(n: int, cutoffs: tuple[int, ...], work: Work) -> Columns:
    parts: list[Columns] = []
    for name, (boundary, f, first) in cases(n).items():
        work.report(len(parts), len(cases(n)))
        found = theorem_identities(f, np.array(_centre(n, first)), cutoffs)
        parts.append(
            {
                "function": np.repeat(name, len(cutoffs)),
                "boundary": np.repeat(boundary, len(cutoffs)),
                "cutoff": found.cutoffs,
                "captured": found.captured,
                "first_order": found.first_order,
                "second_order": found.second_order,
            }
        )
    work.report(len(parts), len(parts))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
