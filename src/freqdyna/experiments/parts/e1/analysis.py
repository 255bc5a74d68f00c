"""What E1 shows: 64π² and π², a ratio of 64 for a frequency ratio of 8."""

import math

import jax
import numpy as np

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.parts.regression.f_sin import HIGH, LOW, f_sin
from freqdyna.frequency.theory import quadrature

PAPER = (64.0, 1.0)
"""In units of π²."""
TOLERANCE = 1e-12


def analyse(units: dict[str, Stored]) -> Findings:
    """The function, its squared derivative, and the two integrals."""
    integrals = units["integrals"].columns["integral"]
    x = np.linspace(LOW, HIGH, 2001)
    figure = drawing.panels(2, 1, width=8.0, height=2.6)
    top, bottom = figure.subplots(2, 1, sharex=True)
    top.plot(x, quadrature.values(lambda y: f_sin(y[0]), x[:, None]), color="black")
    drawing.finish(top, "E1: $f_{\\sin}$ and its squared derivative", "", "$f_{\\sin}(x)$")
    squares = quadrature.values(lambda y: jax.grad(f_sin)(y[0]) ** 2, x[:, None])
    bottom.fill_between(x, np.maximum(squares, 1e-2), 1e-2, color="tab:red", alpha=0.4, linewidth=0)
    bottom.set_yscale("log")
    bottom.set_ylim(0.1, 1e5)
    drawing.finish(bottom, "", "x", "$f_{\\sin}'(x)^2$")
    for place, integral in zip((-1.0, 1.0), integrals, strict=True):
        text = f"$\\int = {integral / math.pi**2:.6g}\\,\\pi^2$"
        bottom.text(place, 8e3, text, ha="center", fontsize=13)
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
    return Findings(figure, rows, notes=("The error is relative, of quadrature in float64.",))
