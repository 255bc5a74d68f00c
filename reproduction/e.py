"""E1 and E2: squared derivatives of f_sin and of Fourier series (the paper's examples)."""

import math
from functools import partial
from typing import Any

import jax
import numpy as np

from freqdyna.results.chart import Area, Axis, Chart, Legend, Line, LineStyle, Marker, Panel
from reproduction import claims, theory
from reproduction.claims import Statement
from reproduction.regression import HIGH, LOW, f_sin
from reproduction.study import Columns, Findings, Part, Stored, Unit

REGIONS = {"[−2, 0)": (LOW, 0.0, 64.0), "[0, 2]": (0.0, HIGH, 1.0)}
"""Regions of f_sin: their ends, and the paper's integral in units of π²."""
FLOOR = 1e-2
"""The smallest value drawn on the logarithmic axis; the squared derivative has zeros."""
ORDERS = (1, 2, 4, 8, 16, 32)
"""N of the random Fourier series."""
RANDOM_SEED = 0
DERIVATIVES: dict[int, tuple[str, str, str, Marker]] = {
    1: ("n²", "′", "tab:blue", "circle"),
    2: ("n⁴", "″", "tab:red", "square"),
}
"""For each derivative: weight, primes, colour and marker."""
LEFT_HALF = Statement("the squared derivative of f_sin is 64 times as large on its left half")
SUMS = Statement("squared derivatives of a Fourier series are sums over its coefficients")


def f_sin_units(quick: bool) -> list[Unit]:
    """|f_sin′|² over the regions of high and low frequency; also small enough for a quick run."""
    regions = [[low, high] for low, high, _ in REGIONS.values()]
    settings = {"function": f_sin.__name__, "derivative": 1, "regions": regions}
    return [Unit("integrals", settings | {"quadrature": theory.SETTINGS}, _integrals)]


def _integrals() -> Columns:
    low, high, _ = map(np.array, zip(*REGIONS.values(), strict=True))
    ends = zip(low, high, strict=True)
    integrals = [theory.interval_energy(lambda y: f_sin(y[0]), *one, derivative=1) for one in ends]
    return {"low": low, "high": high, "integral": np.array(integrals)}


def analyse_f_sin(units: dict[str, Stored]) -> Findings:
    """The function, its squared derivative, and the two integrals: 64π² and π² in the paper."""
    integrals = units["integrals"].columns["integral"] / math.pi**2
    x = np.linspace(LOW, HIGH, 2001)
    values = theory.values(lambda y: f_sin(y[0]), x[:, None])
    squares = theory.values(lambda y: jax.grad(f_sin)(y[0]) ** 2, x[:, None])
    above = np.maximum(squares, FLOOR)
    line = Line(x, values, LineStyle("black"))
    squared = Area(x, np.full_like(above, FLOOR), above, "tab:red", opacity=0.4)
    y = Axis("f_sin′(x)²", log=True, low=0.1, high=1e5)
    panels = [
        Panel("E1: f_sin and its squared derivative", y=Axis("f_sin(x)"), marks=[line]),
        Panel(x=Axis("x"), y=y, marks=[squared]),
    ]
    rows = []
    for (region, (_, _, paper)), integral in zip(REGIONS.items(), integrals, strict=True):
        what, error = f"∫ |f_sin′|² over {region}", abs(integral / paper - 1)
        stated, ours = f"{paper:.0f} π²", f"{integral:.12g} π²"
        rows.append(claims.accuracy(LEFT_HALF, what, stated, ours, error, tolerance=1e-12))
    note = "The error is the relative error of the quadrature in float64."
    chart = Chart(panels, columns=1, panel_size=(8.0, 2.6))
    return Findings(chart, rows, notes=(note,))


def series_units(quick: bool) -> list[Unit]:
    """Several random Fourier series of each order."""
    series = 2 if quick else 10
    settings = {
        **{"orders": list(ORDERS), "series": series, "derivatives": list(DERIVATIVES)},
        **{"random_seed": RANDOM_SEED, "quadrature": theory.SETTINGS},
    }
    return [Unit("series", settings, partial(_series, series))]


def _series(series: int) -> Columns:
    generator = np.random.default_rng(RANDOM_SEED)
    rows: list[tuple[int, int, float, float]] = []
    for order in np.repeat(ORDERS, series).tolist():
        constant, cosines, sines = np.split(generator.normal(size=2 * order + 1), [1, order + 1])
        f = partial(theory.fourier_series, constant[0], cosines, sines)
        for d in DERIVATIVES:
            formula = theory.series_energy(d, cosines, sines)
            rows.append((order, d, theory.interval_energy(f, -math.pi, math.pi, d), formula))
    names = ("order", "derivative", "integral", "formula")
    return dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))


def analyse_series(units: dict[str, Stored]) -> Findings:
    """Quadrature compared with the sums of coefficients, and the maximum relative error."""
    columns = units["series"].columns
    ends = np.array([columns["formula"].min() / 2, columns["formula"].max() * 2])
    marks = [Line(ends, ends, LineStyle("0.6"), width=1, label="equal")]
    rows = []
    series, order = len(columns["order"]) // 2, columns["order"].max()
    for derivative, (weight, primes, color, marker) in DERIVATIVES.items():
        of_derivative = columns["derivative"] == derivative
        integral, formula = (columns[name][of_derivative] for name in ("integral", "formula"))
        label = f"∫ |f{primes}|², weight {weight}"
        look: dict[str, Any] = {"marker_size": 4, "opacity": 0.6, "label": label}
        marks.append(Line(formula, integral, LineStyle(color, "none"), marker=marker, **look))
        error = float(np.abs(integral / formula - 1).max())
        what = f"∫ |f{primes}|² = π Σ {weight} (aₙ² + bₙ²), {series} random series, N ≤ {order}"
        ours = f"ratio 1 ± {error:.1g}"
        rows.append(claims.accuracy(SUMS, what, "equal", ours, error, tolerance=1e-10))
    x, y = Axis("π Σ weight · (aₙ² + bₙ²)", log=True), Axis("integral by quadrature", log=True)
    panel = Panel(f"E2: {series} random Fourier series", x, y, marks, legend=Legend())
    note = "Coefficients are standard normal; errors are relative."
    return Findings(Chart([panel], panel_size=(6.4, 4.8)), rows, notes=(note,))


E1 = Part("E1", "example 1: squared derivatives of f_sin", "seconds", f_sin_units, analyse_f_sin)
E2 = Part(
    "E2", "example 2: Fourier series and derivatives", "seconds", series_units, analyse_series
)
