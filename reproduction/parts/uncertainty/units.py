"""What U integrates: Gaussians of many widths, and random functions that vanish on the boundary.

The width is the standard deviation of f²; the bound takes the norm of the functions into account.
"""

import math
from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.frequency import Function
from reproduction.base import Columns, Unit, Work
from reproduction.theory import SETTINGS, local_dispersion, theorem_identities, uncertainty_ratio

DEGREE = 6
RANDOM_SEED = 0
"""The seed of the coefficients, which are standard normal."""
CUTOFF = 64
"""The frequency cutoff in the paper's own form."""
ORIGIN = np.zeros(1)


def gaussian(width: float, y: Float[Array, " 1"]) -> Float[Array, ""]:
    """A Gaussian, truncated at the boundary of the ball."""
    return jnp.exp(-jnp.sum(y**2) / (4 * width**2))


def vanishing_gaussian(width: float, y: Float[Array, " 1"]) -> Float[Array, ""]:
    """The Gaussian times (1 − y²)², so that it vanishes on the boundary."""
    return (1 - jnp.sum(y**2)) ** 2 * gaussian(width, y)


KINDS: dict[str, Callable[..., Array]] = {"cut": gaussian, "vanishing": vanishing_gaussian}


def polynomial(coefficients: np.ndarray, y: Float[Array, " 1"]) -> Float[Array, ""]:
    """A polynomial times (1 − y²)²."""
    return (1 - jnp.sum(y**2)) ** 2 * jnp.polyval(jnp.asarray(coefficients), y[0])


def units(quick: bool) -> list[Unit]:
    """Gaussians, and random polynomials."""
    widths = np.geomspace(0.03, 3.0, 5 if quick else 25).round(4).tolist()
    functions = 5 if quick else 100
    integrals = {"cutoff": CUTOFF, "centre": ORIGIN.tolist(), "quadrature": SETTINGS}
    drawn = {"functions": functions, "degree": DEGREE, "random_seed": RANDOM_SEED}
    return [
        Unit(
            "gaussians",
            {"kinds": list(KINDS), "widths": widths} | integrals,
            partial(_gaussians, widths),
        ),
        Unit("polynomials", drawn | integrals, partial(_random, functions)),
    ]


def frequency_ratio(f: Function) -> float:
    """The paper's form: dispersion × ∫ |f̂|² k², divided by energy² / (16π²), up to the cutoff."""
    found = theorem_identities(f, ORIGIN, (CUTOFF,))
    spread = found.energy * float(found.second_moment[-1])
    return 16 * math.pi**2 * local_dispersion(f, ORIGIN) * spread / found.energy**2


def _gaussians(widths: list[float], work: Work) -> Columns:
    rows = []
    for kind, function in KINDS.items():
        for width in widths:
            f = partial(function, width)
            rows.append((kind, width, uncertainty_ratio(f, ORIGIN), frequency_ratio(f)))
            work.report(len(rows), len(KINDS) * len(widths))
    names = ("kind", "width", "gradient_form", "frequency_form")
    return {
        name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def _random(functions: int, work: Work) -> Columns:
    generator = np.random.default_rng(RANDOM_SEED)
    ratios = []
    for done in range(functions):
        f = partial(polynomial, generator.normal(size=DEGREE + 1))
        ratios.append((uncertainty_ratio(f, ORIGIN), frequency_ratio(f)))
        work.report(done + 1, functions)
    gradient, frequency = map(np.array, zip(*ratios, strict=True))
    return {"gradient_form": gradient, "frequency_form": frequency}
