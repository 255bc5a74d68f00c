"""T1: gradient and Hessian energy by the local frequency distribution (the paper's theorem 1).

The functions that are integrated are named after their behaviour on the boundary of the unit ball:
`flat` vanishes together with its gradient, `zero` vanishes but its gradient does not, `jump` does
not vanish.
"""

import math
from functools import partial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from freqdyna.frequency import Function
from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Marker, Panel
from reproduction import claims
from reproduction.claims import Claim, Statement
from reproduction.regression import f_sin
from reproduction.study import Columns, Findings, Part, Stored, Unit
from reproduction.theory import SETTINGS, theorem_identities

CUTOFFS = {1: (1, 2, 4, 8, 16, 32, 64), 2: (1, 2, 4, 8, 16, 32)}
QUICK = (1, 2, 4, 8)
BOUNDARIES = {
    "flat": ("f and ∇f vanish on the boundary", "black"),
    "zero": ("f vanishes, ∇f does not", "tab:blue"),
    "jump": ("f does not vanish", "red"),
}
COLORS = "; ".join(f"{color.removeprefix('tab:')}: {label}" for label, color in BOUNDARIES.values())
MARKERS: tuple[Marker, ...] = (
    *("circle", "square", "diamond"),
    *("triangle-up", "triangle-down", "cross"),
)
ORDERS = {"first_order": "first order (gradient)", "second_order": "second order (Hessian)"}
VALID = {"first_order": ("flat", "zero"), "second_order": ("flat",)}
"""The behaviours on the boundary for which each identity is exact in the limit."""
TOLERANCE = {"flat": 1e-6, "zero": 0.01}
"""For the ratio at the last cutoff. The tail of a kink only decays as 1/K, so some remains."""
TITLE = (
    "T1: theorem 1 holds where f vanishes on the boundary of the ball; "
    "its second order also needs ∇f = 0 there"
)
ROUNDING = 1e-15
"""Smaller values are drawn as this."""
VANISHING = Statement(
    "theorem 1: gradient and Hessian give the local frequency, if f (second order: and ∇f) "
    "vanishes on the boundary",
    main=True,
)
ANY = Statement("theorem 1 for every other f; the paper states it for any f")


def _left(y: Float[Array, " n"]) -> Float[Array, ""]:
    """1 − ‖y‖²: zero on the boundary."""
    return 1 - jnp.sum(y**2)


def _wave(y: Float[Array, " n"]) -> Float[Array, ""]:
    return _left(y) ** 4 * jnp.cos(4 * math.pi * y[0] + 0.3)


CASES: dict[str, tuple[str, Function, float]] = {
    "(1 − r²)⁴": ("flat", lambda y: _left(y) ** 4, 0.0),
    "(1 − r²)⁴ cos(4πy₁ + 0.3)": ("flat", _wave, 0.0),
    "1 − r²": ("zero", _left, 0.0),
    "f_sin around −1": ("zero", lambda y: f_sin(y[0]), -1.0),
    "cos(2πy₁)": ("jump", lambda y: jnp.cos(2 * math.pi * y[0]), 0.0),
    "sin(8πy) around −0.9": ("jump", lambda y: jnp.sin(8 * math.pi * y[0]), -0.9),
}
"""Each function: its behaviour on the boundary, itself, and the first coordinate of the centre."""


def cases(n: int) -> dict[str, tuple[str, Function, list[float]]]:
    """The functions for n dimensions and their centres; some are only for one dimension."""
    return {
        name: (boundary, f, [first, 0.0][:n])
        for name, (boundary, f, first) in CASES.items()
        if n == 1 or "around" not in name
    }


def units(quick: bool) -> list[Unit]:
    """One unit for each number of dimensions."""
    rows = []
    for n, cutoffs in CUTOFFS.items():
        cutoffs = QUICK if quick else cutoffs
        functions = {
            name: {"boundary": boundary, "centre": centre}
            for name, (boundary, _, centre) in cases(n).items()
        }
        settings = {"functions": functions, "cutoffs": list(cutoffs), "quadrature": SETTINGS}
        rows.append(Unit(f"{n}-d", settings, partial(_identities, n, cutoffs)))
    return rows


def _identities(n: int, cutoffs: tuple[int, ...]) -> Columns:
    parts: list[Columns] = []
    for name, (boundary, f, centre) in cases(n).items():
        identities = theorem_identities(f, np.array(centre), cutoffs)
        parts.append(
            {
                "function": np.repeat(name, len(cutoffs)),
                "boundary": np.repeat(boundary, len(cutoffs)),
                "cutoff": identities.cutoffs,
                **{key: getattr(identities, key) for key in ("captured", *ORDERS)},
            }
        )
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def analyse(units: dict[str, Stored]) -> Findings:
    """The relative difference of both sides over the cutoff, for each identity and dimension."""
    by_n = {n: units[f"{n}-d"].columns for n in CUTOFFS}
    panels = [_panel(by_n[n], order, n) for order in ORDERS for n in by_n]
    rows = [claim for n in by_n for order in ORDERS for claim in _claims(by_n[n], order, n)]
    chart = Chart(panels, f"{TITLE}\n{COLORS}", columns=len(by_n), panel_size=(5.6, 3.9))
    notes = (
        "The theorem is stated for any f. Its proof differentiates f truncated outside the ball, "
        "which jumps on the boundary unless f vanishes there. docs/theory.md states the condition.",
        "A jump leads to p = 1 (first order) or 3 (second order), a kink to 1 (second order). If "
        "the right-hand side diverges, it crosses the left-hand side at some cutoff, which appears "
        "as a dip in the figure.",
    )
    return Findings(chart, sorted(rows, key=lambda claim: claim.verdict != "holds"), notes=notes)


def _panel(columns: Columns, order: str, n: int) -> Panel:
    """One line for each function, in the colour of its behaviour on the boundary."""
    marks = []
    for name in dict.fromkeys(columns["function"].tolist()):
        rows = columns["function"] == name
        apart = np.maximum(np.abs(columns[order][rows] - 1), ROUNDING)
        style = LineStyle(BOUNDARIES[columns["boundary"][rows][0]][1])
        marker = MARKERS[list(CASES).index(name)]
        cutoffs = columns["cutoff"][rows]
        marks.append(Line(cutoffs, apart, style, marker=marker, marker_size=5.0, label=name))
    ticks = [(at, str(at)) for at in np.unique(columns["cutoff"]).tolist()]
    x = Axis("frequency cutoff K", log=True, ticks=ticks)
    y = Axis("| right-hand side / left-hand side − 1 |", log=True)
    legend = Legend("below", columns=3) if (order, n) == ("first_order", 1) else None
    return Panel(f"{ORDERS[order]}, n = {n}", x, y, marks, legend=legend)


def _claims(columns: Columns, order: str, n: int) -> list[Claim]:
    """One row for each behaviour on the boundary, with the worst of its functions."""
    rows = []
    last = int(columns["cutoff"].max())
    for boundary, (label, _) in BOUNDARIES.items():
        of_boundary = columns["boundary"] == boundary
        quarter, half, whole = (
            columns[order][of_boundary & (columns["cutoff"] == last // part)] for part in (4, 2, 1)
        )
        what = f"{ORDERS[order]}, n = {n}: {label}"
        if boundary in VALID[order]:
            error = float(np.abs(whole - 1).max())
            ours, allowed = f"ratio 1 ± {error:.1g} at K = {last}", TOLERANCE[boundary]
            rows.append(claims.accuracy(VANISHING, what, "ratio 1", ours, error, allowed))
        else:
            ratios = np.stack([quarter, half, whole])
            rows.append(claims.divergence(ANY, what, "ratio 1", ratios, last))
    return rows


PART = Part("T1", "theorem 1: gradient, Hessian and local frequency", "two minutes", units, analyse)
