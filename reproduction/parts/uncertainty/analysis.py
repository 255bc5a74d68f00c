"""The evaluation of U: the bound holds if f vanishes on the boundary, and how tight it is."""

import numpy as np

from freqdyna.results.chart import Axis, Box, Chart, Dash, Legend, Line, LineStyle, Panel
from reproduction import claims
from reproduction.base import Findings, Stored

TOLERANCE = 1e-6
"""Allows for rounding, and for frequencies beyond the cutoff."""
BINS = 29
"""The number of bins of the histogram."""
SIDES: tuple[tuple[int, Dash, str], ...] = ((1, "solid", "above"), (-1, "dashed", "below"))
"""The sides of the bound: sign, dashes and word."""
ROUNDING = 1e-13
"""Values closer to the bound than this count as attaining it, and are not drawn."""


def analyse(units: dict[str, Stored]) -> Findings:
    """The distance of the product from its bound, for Gaussians and random functions."""
    gaussians, random = units["gaussians"].columns, units["polynomials"].columns
    cut, vanishing = (gaussians["kind"] == kind for kind in ("cut", "vanishing"))
    width = gaussians["width"]
    kinds = (
        (vanishing, "black", "(1 − y²)² × Gaussian"),
        (cut, "red", "Gaussian, truncated at the boundary"),
    )
    panels = [
        Panel(
            title="Gaussians of increasing width",
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
            "minimum of (dispersion × ∫|f̂|²k²) / (energy² / 16π²), f vanishes on the boundary",
            "≥ 1",
            float(np.concatenate(both).min()),
            TOLERANCE,
        ),
        claims.bound(
            "minimum of (dispersion × gradient energy) / (energy² / 4), f vanishes on the boundary",
            "≥ 1",
            float(np.concatenate(gradient).min()),
            TOLERANCE,
        ),
        claims.accuracy(
            "the same for (1 − y²)² × Gaussian, minimum over all widths (standard deviation of the "
            f"Gaussian's square {narrowest:g} and more), compared with equality",
            "-",
            f"{tightest:.6f}",
            abs(tightest - 1),
            1e-3,
        ),
        claims.bound(
            "the same if f does not vanish: minimum over Gaussians truncated at the boundary",
            "≥ 1",
            float(gaussians["gradient_form"][cut].min()),
            TOLERANCE,
        ),
    ]
    notes = (
        "The paper does not state a normalisation. We interpret its bounds 1/(16π²) and 1/4 as "
        "those for ∫f² = 1; in general they are multiplied by (∫f²)², as here.",
        "It is well known that a Gaussian attains the bound; the paper does not mention it. A "
        "Gaussian truncated at the boundary does not vanish there, so it is multiplied by "
        "(1 − y²)².",
        "The form with the gradient follows from theorem 1 and has the same condition: a wide "
        "Gaussian truncated at the boundary is nearly constant and has hardly any gradient inside.",
    )
    return Findings(chart, rows_found, notes=notes)


def _lines(widths: np.ndarray, products: np.ndarray, color: str, label: str) -> list[Line]:
    """The distances of products from their bound: one line above it and one below it, if any."""
    excess = products - 1
    lines = []
    for sign, dash, where in SIDES:
        part = np.where(sign * excess > ROUNDING, np.abs(excess), np.nan)
        if not np.isnan(part).all():
            style, text = LineStyle(color, dash), f"{label}: {where} the bound"
            lines.append(Line(widths, part, style, marker="circle", marker_size=3.5, label=text))
    return lines


def _histogram(excess: np.ndarray) -> Panel:
    """A histogram of the distances of random functions from the bound."""
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
