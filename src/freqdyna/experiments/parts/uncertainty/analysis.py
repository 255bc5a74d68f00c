"""What U shows: the bound holds where f vanishes on the boundary, and how tight it gets."""

import numpy as np

from freqdyna.experiments import claims
from freqdyna.experiments.base import Findings, Stored
from freqdyna.results.chart import Axis, Box, Chart, Dash, Legend, Line, LineStyle, Panel

TOLERANCE = 1e-6
"""Rounding, and what lies beyond the cut-off."""
BINS = 29
"""Of the histogram."""
SIDES: tuple[tuple[int, Dash, str], ...] = ((1, "solid", "above"), (-1, "dashed", "below"))
"""Of the bound: sign, dashes and word."""
ROUNDING = 1e-13
"""What is closer to the bound counts as meeting it, and is not drawn."""


def analyse(units: dict[str, Stored]) -> Findings:
    """How far the product is from its bound: Gaussians of all widths, and random functions."""
    gaussians, random = units["gaussians"].columns, units["polynomials"].columns
    cut, vanishing = (gaussians["kind"] == kind for kind in ("cut", "vanishing"))
    width = gaussians["width"]
    kinds = (
        (vanishing, "black", "(1 − y²)² × Gaussian"),
        (cut, "red", "Gaussian, cut by the boundary"),
    )
    panels = [
        Panel(
            title="Gaussians of growing width",
            x=Axis("standard deviation of f²", log=True),
            y=Axis("| product / its bound − 1 |", log=True, low=ROUNDING, high=1e3),
            marks=[
                line
                for rows, color, label in kinds
                for line in _lines(width[rows], gaussians["gradient_form"][rows], color, label)
            ],
            legend=Legend("upper left"),
        ),
        _histogram(random["gradient_form"] - 1),
    ]
    title = "U: dispersion × gradient energy ≥ 1/4 × energy²"
    chart = Chart(panels, title, panel_size=(5.6, 4.0))
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
    return Findings(chart, rows_found, notes=notes)


def _lines(widths: np.ndarray, products: np.ndarray, color: str, label: str) -> list[Line]:
    """How far products are from their bound: a line above it and one below it, where there are."""
    excess = products - 1
    lines = []
    for sign, dash, where in SIDES:
        part = np.where(sign * excess > ROUNDING, np.abs(excess), np.nan)
        if not np.isnan(part).all():
            style, text = LineStyle(color, dash), f"{label}: {where} the bound"
            lines.append(Line(widths, part, style, marker="circle", marker_size=3.5, label=text))
    return lines


def _histogram(excess: np.ndarray) -> Panel:
    """How many random functions lie how far above the bound."""
    edges = np.geomspace(excess.min() * 0.99, excess.max() * 1.01, BINS + 1)
    counts, _ = np.histogram(excess, edges)
    return Panel(
        title=f"{len(excess)} random polynomials that vanish on the boundary",
        x=Axis("product / its bound − 1", log=True),
        y=Axis("functions", low=0),
        boxes=[
            Box((left, right), (0, count), "0.4")
            for left, right, count in zip(
                edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True
            )
        ],
    )
