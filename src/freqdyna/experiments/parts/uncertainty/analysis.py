"""What U shows: the bound holds where f vanishes on the boundary, and how tight it gets."""

import numpy as np

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored

TOLERANCE = 1e-6
"""Rounding, and what lies beyond the cut-off."""
ROUNDING = 1e-13
"""What is nearer to the bound meets it, and is not drawn."""


def analyse(units: dict[str, Stored]) -> Findings:
    """How far the product is from its bound: Gaussians of all widths, and random functions."""
    gaussians, random = units["gaussians"].columns, units["polynomials"].columns
    cut, vanishing = (gaussians["kind"] == kind for kind in ("cut", "vanishing"))
    figure = drawing.panels(1, 2, width=5.6)
    left, right = figure.subplots(1, 2)
    width = gaussians["width"]
    for rows, color, label in (
        (vanishing, "black", "(1 − y²)² × Gaussian"),
        (cut, "red", "Gaussian, cut by the boundary"),
    ):
        excess = gaussians["gradient_form"][rows] - 1
        for sign, style, where in ((1, "-", "above"), (-1, "--", "below")):
            part = np.where(sign * excess > ROUNDING, np.abs(excess), np.nan)
            if not np.isnan(part).all():
                line = {"linestyle": style, "marker": "o", "markersize": 3.5}
                left.loglog(
                    width[rows], part, color=color, label=f"{label}: {where} the bound", **line
                )
    left.set_ylim(ROUNDING, 1e3)
    left.legend(frameon=False, loc="upper left")
    apart = "| product / its bound − 1 |"
    drawing.finish(left, "Gaussians of growing width", "standard deviation of f²", apart)
    excess = random["gradient_form"] - 1
    bins = np.geomspace(excess.min() * 0.99, excess.max() * 1.01, 30)
    right.hist(excess, bins=bins.tolist(), color="0.4")
    right.set_xscale("log")
    title = f"{len(excess)} random polynomials that vanish on the boundary"
    drawing.finish(right, title, "product / its bound − 1", "functions")
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
            "the same for (1 − y²)² × Gaussian, least of all widths (standard deviation of the "
            f"Gaussian's square {narrowest:g} and more), beside equality",
            "-",
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
        "The paper's passage states no normalisation. We read its bounds 1/(16π²) and 1/4 as for "
        "∫f² = 1; in general they are multiplied by (∫f²)², as here.",
        "That a Gaussian meets the bound with equality is known; the paper does not say it. One "
        "cut by the boundary does not vanish there, so it is multiplied by (1 − y²)².",
        "The form with the gradient comes from theorem 1 and shares its condition: a wide "
        "Gaussian, cut by the boundary, is nearly constant and has hardly any gradient inside.",
    )
    return Findings(figure, rows_found, notes=notes)
