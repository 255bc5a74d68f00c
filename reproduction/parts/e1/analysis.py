"""The evaluation of E1: 64π² and π², a ratio of 64 for a frequency ratio of 8."""

import math

import jax
import numpy as np

from freqdyna.results.chart import Area, Axis, Chart, Line, LineStyle, Panel, Text
from reproduction import claims
from reproduction import theory as quadrature
from reproduction.base import Findings, Stored
from reproduction.parts.regression.f_sin import HIGH, LOW, f_sin

PAPER = (64.0, 1.0)
"""In units of π²."""
TOLERANCE = 1e-12
FLOOR = 1e-2
"""The smallest value drawn on the logarithmic axis; the squared derivative has zeros."""


def analyse(units: dict[str, Stored]) -> Findings:
    """The function, its squared derivative, and the two integrals."""
    integrals = units["integrals"].columns["integral"]
    x = np.linspace(LOW, HIGH, 2001)
    values = quadrature.values(lambda y: f_sin(y[0]), x[:, None])
    squares = quadrature.values(lambda y: jax.grad(f_sin)(y[0]) ** 2, x[:, None])
    above = np.maximum(squares, FLOOR)
    panels = [
        Panel(
            title="E1: f_sin and its squared derivative",
            y=Axis("f_sin(x)"),
            marks=[Line(x, values, LineStyle("black"))],
        ),
        Panel(
            x=Axis("x"),
            y=Axis("f_sin′(x)²", log=True, low=0.1, high=1e5),
            marks=[Area(x, np.full_like(above, FLOOR), above, "tab:red", opacity=0.4)],
            texts=[
                Text(place, 8e3, f"∫ = {integral / math.pi**2:.6g} π²", size=13)
                for place, integral in zip((-1.0, 1.0), integrals, strict=True)
            ],
        ),
    ]
    chart = Chart(panels, columns=1, panel_size=(8.0, 2.6), share_x=True)
    regions = ("[−2, 0)", "[0, 2]")
    rows = [
        claims.accuracy(
            f"∫ |f_sin′|² over {region}",
            f"{paper:.0f} π²",
            f"{integral / math.pi**2:.12g} π²",
            abs(integral / (paper * math.pi**2) - 1),
            TOLERANCE,
        )
        for region, paper, integral in zip(regions, PAPER, integrals, strict=True)
    ]
    note = "The error is the relative error of the quadrature in float64."
    return Findings(chart, rows, notes=(note,))
