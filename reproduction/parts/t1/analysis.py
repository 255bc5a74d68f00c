"""The evaluation of T1: where the identities hold, and where the right-hand side diverges."""

import numpy as np

from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Marker, Panel
from reproduction import claims
from reproduction.base import Columns, Findings, Stored
from reproduction.claims import Claim
from reproduction.parts.t1.units import CASES

COLORS = {"flat": "black", "zero": "tab:blue", "jump": "red"}
LABELS = {
    "flat": "f and ∇f vanish on the boundary",
    "zero": "f vanishes, ∇f does not",
    "jump": "f does not vanish",
}
MARKERS: tuple[Marker, ...] = (
    *("circle", "square", "diamond"),
    *("triangle-up", "triangle-down", "cross"),
)
TITLES = {"first_order": "first order (gradient)", "second_order": "second order (Hessian)"}
VALID = {"first_order": ("flat", "zero"), "second_order": ("flat",)}
"""The behaviours on the boundary for which each identity is exact in the limit."""
TOLERANCE = {"flat": 1e-6, "zero": 0.01}
"""For the ratio at the last cutoff. The tail of a kink only decays as 1/K, so some remains."""
DIMENSIONS = {1: "1-d", 2: "2-d"}
"""The unit for each dimension."""
ROUNDING = 1e-15
"""Smaller values are drawn as this."""


def analyse(units: dict[str, Stored]) -> Findings:
    """The relative difference of both sides over the cutoff, for each identity and dimension."""
    panels: list[Panel] = []
    rows: list[Claim] = []
    for order in TITLES:
        for n, unit in DIMENSIONS.items():
            panels.append(_panel(units[unit].columns, order, n, first=not panels))
    for n, unit in DIMENSIONS.items():
        for order in TITLES:
            rows += _claims(units[unit].columns, order, n)
    chart = Chart(
        panels,
        "T1: theorem 1 holds where f vanishes on the boundary of the ball; "
        "its second order also needs ∇f = 0 there",
        columns=len(DIMENSIONS),
        panel_size=(5.6, 3.9),
    )
    notes = (
        "The theorem is stated for any f. Its proof differentiates f truncated outside the ball, "
        "which jumps on the boundary unless f vanishes there. docs/theory.md states the condition.",
        "A jump leads to p = 1 (first order) or 3 (second order), a kink to 1 (second order). If "
        "the right-hand side diverges, it crosses the left-hand side at some cutoff, which appears "
        "as a dip in the figure.",
    )
    return Findings(chart, sorted(rows, key=lambda claim: claim.verdict != "holds"), notes=notes)


def _panel(columns: Columns, order: str, n: int, first: bool) -> Panel:
    """One line for each function, in the colour of its behaviour on the boundary.

    The first panel has the legend of all panels.
    """
    marks = []
    for name in dict.fromkeys(columns["function"].tolist()):
        own = columns["function"] == name
        apart = np.maximum(np.abs(columns[order][own] - 1), ROUNDING)
        marks.append(
            Line(
                columns["cutoff"][own],
                apart,
                LineStyle(COLORS[columns["boundary"][own][0]]),
                marker=MARKERS[list(CASES).index(name)],
                marker_size=5.0,
                label=name,
            )
        )
    if first:
        empty = np.empty(0)
        marks += [
            Line(empty, empty, LineStyle(color), width=3, label=LABELS[boundary])
            for boundary, color in COLORS.items()
        ]
    cutoffs = np.unique(columns["cutoff"]).tolist()
    return Panel(
        title=f"{TITLES[order]}, n = {n}",
        x=Axis("frequency cutoff K", log=True, ticks=[(at, str(at)) for at in cutoffs]),
        y=Axis("| right-hand side / left-hand side − 1 |", log=True),
        marks=marks,
        legend=Legend("below", columns=3) if first else None,
    )


def _claims(columns: Columns, order: str, n: int) -> list[Claim]:
    """One row for each behaviour on the boundary, with the worst of its functions."""
    rows = []
    last = columns["cutoff"].max()
    for boundary, label in LABELS.items():
        at_end = (columns["boundary"] == boundary) & (columns["cutoff"] == last)
        ratios = columns[order][at_end]
        what = f"{TITLES[order]}, n = {n}: {label}"
        if boundary in VALID[order]:
            error = float(np.abs(ratios - 1).max())
            ours = f"ratio 1 ± {error:.1g} at K = {last}"
            rows.append(claims.accuracy(what, "ratio 1", ours, error, TOLERANCE[boundary]))
            continue
        own = columns["boundary"] == boundary
        steps = [columns[order][own & (columns["cutoff"] == last // part)] for part in (4, 2, 1)]
        rows.append(claims.divergence(what, "ratio 1", np.stack(steps), int(last)))
    return rows
