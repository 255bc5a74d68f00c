"""What E2 shows: the integrals equal the coefficients' sums weighted by n² and n⁴."""

import numpy as np

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored

TOLERANCE = 1e-10
SIGNS = {1: ("n²", "′", "tab:blue", "o"), 2: ("n⁴", "″", "tab:red", "s")}
"""Of each derivative: weight, primes, colour and marker."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Quadrature against formula over orders of magnitude, and the greatest relative error."""
    columns = units["series"].columns
    figure = drawing.panels(1, 1, width=6.4, height=4.8)
    panel = figure.subplots()
    ends = [columns["formula"].min() / 2, columns["formula"].max() * 2]
    panel.plot(ends, ends, color="0.6", linewidth=1, label="equal")
    rows = []
    series = len(columns["order"]) // 2
    for derivative, (weight, primes, color, marker) in SIGNS.items():
        own = columns["derivative"] == derivative
        integral, formula = columns["integral"][own], columns["formula"][own]
        label = f"∫ |f{primes}|², weight {weight}"
        panel.loglog(formula, integral, marker, color=color, markersize=4, alpha=0.6, label=label)
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
    title = f"E2: {series} random Fourier series"
    drawing.finish(panel, title, "π Σ weight · (aₙ² + bₙ²)", "integral by quadrature")
    panel.legend(frameon=False)
    return Findings(figure, rows, notes=("Coefficients are standard normal; errors are relative.",))
