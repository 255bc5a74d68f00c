"""U: the uncertainty principle that complements theorem 1 (the paper's appendix).

Gaussians of many widths, and random functions that vanish on the boundary. The width is the
standard deviation of f²; the bound takes the norm of the functions into account.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.frequency import Function
from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Panel
from reproduction import claims
from reproduction.claims import Statement
from reproduction.study import Columns, Findings, Part, Stored, Unit
from reproduction.theory import SETTINGS, local_dispersion, theorem_identities, uncertainty_ratio

DEGREE = 6
RANDOM_SEED = 0
CUTOFF = 64
"""The frequency cutoff in the paper's own form."""
ORIGIN = np.zeros(1)
TOLERANCE = 1e-6
"""Allows for rounding, and for frequencies beyond the cutoff."""
VANISHING = Statement("the uncertainty principle, if f vanishes on the boundary")
ATTAINED = Statement(
    "Gaussians that vanish on the boundary attain the bound of the uncertainty principle"
)
ANY = Statement("the uncertainty principle for every other f; the paper states it for any f")
NOTES = (
    "The paper does not state a normalisation. We interpret its bounds 1/(16π²) and 1/4 as those "
    "for ∫f² = 1; in general they are multiplied by (∫f²)², as here.",
    "It is well known that a Gaussian attains the bound; the paper does not mention it. A Gaussian "
    "truncated at the boundary does not vanish there, so it is multiplied by (1 − y²)².",
    "The form with the gradient follows from theorem 1 and has the same condition: a wide Gaussian "
    "truncated at the boundary is nearly constant and has hardly any gradient inside.",
)


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
    number = 5 if quick else 100
    integrals = {"cutoff": CUTOFF, "centre": ORIGIN.tolist(), "quadrature": SETTINGS}
    kinds = {"kinds": list(KINDS), "widths": widths}
    drawn = {"functions": number, "degree": DEGREE, "random_seed": RANDOM_SEED}
    return [
        Unit("gaussians", kinds | integrals, partial(_gaussians, widths)),
        Unit("polynomials", drawn | integrals, partial(_polynomials, number)),
    ]


def frequency_ratio(f: Function) -> float:
    """The paper's form: dispersion × ∫ |f̂|² k², divided by energy² / (16π²), up to the cutoff."""
    identities = theorem_identities(f, ORIGIN, (CUTOFF,))
    spread = identities.energy * float(identities.second_moment[-1])
    return 16 * math.pi**2 * local_dispersion(f, ORIGIN) * spread / identities.energy**2


def _gaussians(widths: list[float]) -> Columns:
    cases = [(kind, width) for kind in KINDS for width in widths]
    functions = [partial(KINDS[kind], width) for kind, width in cases]
    kinds, of_cases = map(np.array, zip(*cases, strict=True))
    return {"kind": kinds, "width": of_cases} | _ratios(functions)


def _polynomials(number: int) -> Columns:
    generator = np.random.default_rng(RANDOM_SEED)
    drawn = [generator.normal(size=DEGREE + 1) for _ in range(number)]
    return _ratios([partial(polynomial, coefficients) for coefficients in drawn])


def _ratios(functions: Sequence[Function]) -> Columns:
    """Both forms of the product of each function, divided by its bound."""
    ratios = [(uncertainty_ratio(f, ORIGIN), frequency_ratio(f)) for f in functions]
    gradient, frequency = np.array(ratios).T
    return {"gradient_form": gradient, "frequency_form": frequency}


def analyse(units: dict[str, Stored]) -> Findings:
    """The product divided by its bound, for Gaussians and random functions."""
    gaussians, random = units["gaussians"].columns, units["polynomials"].columns
    cut, vanishing = (gaussians["kind"] == kind for kind in KINDS)
    width, product = gaussians["width"], gaussians["gradient_form"]
    curves = {
        "(1 − y²)² × Gaussian": (vanishing, "black"),
        "Gaussian, truncated at the boundary": (cut, "red"),
    }
    lines = [
        Line(width[rows], product[rows], LineStyle(color), label=label)
        for label, (rows, color) in curves.items()
    ]
    x, y = Axis("standard deviation of f²", log=True), Axis("product / its bound", log=True)
    ends = np.array([width.min(), width.max()])
    lines.append(Line(ends, np.ones(2), LineStyle("0.5", "dotted"), label="bound"))
    title = "U: the uncertainty principle, Gaussians"
    panel = Panel(title, x, y, lines, legend=Legend("best"))
    forms = {
        "frequency_form": "(dispersion × ∫|f̂|²k²) / (energy² / 16π²)",
        "gradient_form": "(dispersion × gradient energy) / (energy² / 4)",
    }
    rows = []
    for form, text in forms.items():
        least = float(min(gaussians[form][vanishing].min(), random[form].min()))
        what = f"minimum of {text}, f vanishes on the boundary"
        rows.append(claims.bound(VANISHING, what, "≥ 1", least, TOLERANCE))
    tightest = float(product[vanishing].min())
    attained = (
        "the same for (1 − y²)² × Gaussian, minimum over all widths (standard deviation of the "
        f"Gaussian's square {float(width.min()):g} and more), compared with equality"
    )
    error = abs(tightest - 1)
    rows.append(claims.accuracy(ATTAINED, attained, "-", f"{tightest:.6f}", error, 1e-3))
    truncated = "the same if f does not vanish: minimum over Gaussians truncated at the boundary"
    rows.append(claims.bound(ANY, truncated, "≥ 1", float(product[cut].min()), TOLERANCE))
    return Findings(Chart([panel], panel_size=(5.6, 4.0)), rows, notes=NOTES)


PART = Part("U", "the uncertainty principle", "about a minute", units, analyse)
