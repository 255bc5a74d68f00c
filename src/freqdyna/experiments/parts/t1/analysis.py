"""What T1 shows: where the identities hold, how fast, and where the right side diverges."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, NullLocator

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Columns, Findings, Stored
from freqdyna.experiments.claims import Claim
from freqdyna.experiments.parts.t1.units import CASES

COLORS = {"flat": "black", "zero": "tab:blue", "jump": "red"}
LABELS = {
    "flat": "f and ∇f vanish on the boundary",
    "zero": "f vanishes, ∇f does not",
    "jump": "f does not vanish",
}
MARKERS = "osD^vP"
TITLES = {"first_order": "first order (gradient)", "second_order": "second order (Hessian)"}
VALID = {"first_order": ("flat", "zero"), "second_order": ("flat",)}
"""Boundaries with which each identity is exact in the limit."""
TOLERANCE = {"flat": 1e-6, "zero": 0.01}
"""On the ratio at the last cut-off. The tail of a kink falls only as 1/K: it is there still."""
ROUNDING = 1e-15
"""Nothing smaller is drawn."""


def analyse(units: dict[str, Stored]) -> Findings:
    """How far right and left side are apart, by the cut-off, for both identities and dimensions."""
    figure = drawing.panels(2, 2, width=5.6, height=3.9)
    grid = figure.subplots(2, 2)
    rows: list[Claim] = []
    for column, (n, unit) in enumerate(((1, "1-d"), (2, "2-d"))):
        columns = units[unit].columns
        for row, order in enumerate(TITLES):
            panel = grid[row, column]
            _draw(panel, columns, order)
            cutoff = "cut-off K of the frequency"
            apart = "| right side / left side − 1 |"
            drawing.finish(panel, f"{TITLES[order]}, n = {n}", cutoff, apart)
            rows += _claims(columns, order, n)
    for name, color in COLORS.items():
        grid[0, 0].plot([], [], color=color, linewidth=3, label=LABELS[name])
    lines, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        "T1: theorem 1 holds where f vanishes on the boundary of the ball; "
        "its second order needs ∇f = 0 there too"
    )
    notes = (
        "The theorem is stated for any f. Its proof differentiates f cut off outside the ball, "
        "which jumps on the boundary unless f vanishes there. docs/theory.md gives the condition.",
        "A jump makes p 1 (first order) or 3 (second order), a kink 1 (second order). Where the "
        "right side diverges it crosses the left one on its way, which the picture shows as a dip.",
    )
    return Findings(figure, sorted(rows, key=lambda claim: claim.verdict != "holds"), notes=notes)


def _draw(panel: Axes, columns: Columns, order: str) -> None:
    """One line a function, in the colour of its behaviour on the boundary."""
    for name in dict.fromkeys(columns["function"].tolist()):
        own = columns["function"] == name
        color = COLORS[columns["boundary"][own][0]]
        style: dict[str, Any] = {
            "color": color,
            "marker": MARKERS[list(CASES).index(name)],
            "markersize": 5.0,
        }
        apart = np.maximum(np.abs(columns[order][own] - 1), ROUNDING)
        panel.loglog(columns["cutoff"][own], apart, label=name, **style)
    cutoffs = np.unique(columns["cutoff"]).tolist()
    panel.set_xticks(cutoffs, labels=map(str, cutoffs), minor=False)
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_minor_formatter(NullFormatter())


def _claims(columns: Columns, order: str, n: int) -> list[Claim]:
    """One row for each behaviour on the boundary: the worst of its functions."""
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
