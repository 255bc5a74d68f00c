"""What U shows: the bound holds where f vanishes on the boundary, and how tight it gets."""

import numpy as np

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored

TOLERANCE = 1e-6
"""Rounding, and what lies beyond the cut-off."""


def analyse(units: dict[str, Stored]) -> Findings:
    """The product by its bound, against the width of a Gaussian and for random functions."""
    gaussians, random = units["gaussians"].columns, units["polynomials"].columns
    cut, vanishing = (gaussians["kind"] == kind for kind in ("cut", "vanishing"))
    figure = drawing.panels(1, 2, width=5.6)
    left, right = figure.subplots(1, 2)
    width = gaussians["width"]
    for rows, color, label in (
        (vanishing, "black", "(1 − y²)² × Gaussian: vanishes on the boundary"),
        (cut, "red", "Gaussian, cut by the boundary"),
    ):
        left.loglog(width[rows], gaussians["gradient_form"][rows], color=color, label=label)
    left.axhline(1.0, color="0.5", linestyle=":", label="the bound")
    left.legend(frameon=False, fontsize=9, loc="lower left")
    drawing.finish(
        left, "Gaussians of growing width", "standard deviation of f²", "product / its bound"
    )
    bins = np.geomspace(1, random["gradient_form"].max() * 1.01, 30)
    right.hist(random["gradient_form"], bins=bins.tolist(), color="0.4")
    right.axvline(1.0, color="0.5", linestyle=":")
    right.set_xscale("log")
    functions = len(random["gradient_form"])
    drawing.finish(
        right,
        f"{functions} random polynomials that vanish on the boundary",
        "product / its bound",
        "functions",
    )
    figure.suptitle("U: dispersion × gradient energy ≥ 1/4 × energy²")
    both = [gaussians["frequency_form"][vanishing], random["frequency_form"]]
    gradient = [gaussians["gradient_form"][vanishing], random["gradient_form"]]
    tightest = float(gaussians["gradient_form"][vanishing].min())
    narrowest = float(width.min())
    rows_found = [
        claims.bound(
            "least (dispersion × ∫|f̂|²k²) / (energy² / 16π²), f vanishing on the boundary",
            "≥ 1",
            float(np.concatenate(both).min()),
            TOLERANCE,
        ),
        claims.bound(
            "least (dispersion × gradient energy) / (energy² / 4), f vanishing on the boundary",
            "≥ 1",
            float(np.concatenate(gradient).min()),
            TOLERANCE,
        ),
        claims.accuracy(
            f"the same for a Gaussian, least of all widths (f² of {narrowest:g} and wider)",
            "1 (equality)",
            f"{tightest:.6f}",
            abs(tightest - 1),
            1e-3,
        ),
        claims.bound(
            "the same for f that does not vanish: least of Gaussians cut by the boundary",
            "≥ 1",
            float(gaussians["gradient_form"][cut].min()),
            TOLERANCE,
        ),
    ]
    notes = (
        "The paper's bounds 1/(16π²) and 1/4 are for ∫f² = 1; in general they are multiplied by "
        "(∫f²)², as here.",
        "The form with the gradient comes from theorem 1 and shares its condition: a wide "
        "Gaussian, cut by the boundary, is nearly constant and has hardly any gradient inside.",
    )
    return Findings(figure, rows_found, notes=notes)
