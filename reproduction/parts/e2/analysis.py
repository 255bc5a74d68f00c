"""The evaluation of E2: the integrals equal the sums of coefficients weighted by n² and n⁴."""

from typing import Any

import numpy as np

from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Marker, Panel
from reproduction import claims
from reproduction.base import Findings, Stored

TOLERANCE = 1e-10
SIGNS: dict[int, tuple[str, str, str, Marker]] = {
    1: ("n²", "′", "tab:blue", "circle"),
    2: ("n⁴", "″", "tab:red", "square"),
}
"""For each derivative: weight, primes, colour and marker."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Quadrature compared with the formula, and the maximum relative error."""
    columns = units["series"].columns
    ends = np.array([columns["formula"].min() / 2, columns["formula"].max() * 2])
    marks = [Line(ends, ends, LineStyle("0.6"), width=1, label="equal")]
    rows = []
    series = len(columns["order"]) // 2
    for derivative, (weight, primes, color, marker) in SIGNS.items():
        own = columns["derivative"] == derivative
        integral, formula = columns["integral"][own], columns["formula"][own]
        label = f"∫ |f{primes}|², weight {weight}"
        look: dict[str, Any] = {"marker_size": 4, "opacity": 0.6, "label": label}
        style = LineStyle(color, "none")
        marks.append(Line(formula, integral, style, marker=marker, **look))
        error = float(np.abs(integral / formula - 1).max())
        rows.append(
            claims.accuracy(
                f"∫ |f{primes}|² = π Σ {weight} (aₙ² + bₙ²), {series} random series, N ≤ "
                f"{columns['order'].max()}",
                "equal",
                f"ratio 1 ± {error:.1g}",
                error,
                TOLERANCE,
            )
        )
    panel = Panel(
        title=f"E2: {series} random Fourier series",
        x=Axis("π Σ weight · (aₙ² + bₙ²)", log=True),
        y=Axis("integral by quadrature", log=True),
        marks=marks,
        legend=Legend(),
    )
    chart = Chart([panel], panel_size=(6.4, 4.8))
    return Findings(chart, rows, notes=("Coefficients are standard normal; errors are relative.",))
