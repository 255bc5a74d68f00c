"""Common parts of F1 and F2: length of training, and plots and comparisons of test errors."""

import numpy as np

from freqdyna.results.chart import Axis, Legend, LineStyle, Panel, Rule, SeedCurve
from reproduction import claims
from reproduction.claims import Claim
from reproduction.parts.regression.speed import PLATEAU, speed_claim

UPDATES = 40_000
"""Not stated in the paper. With half as many updates, the data sets do not yet differ."""
SEEDS = 50
END = 0.9
"""The end of a run is defined as the evaluations after this fraction of its updates."""
TOP = 1.2
"""Upper end of the plot, as a multiple of the plateau."""
SHADED = "shaded: standard error"


def errors_panel(
    title: str,
    updates: np.ndarray,
    errors: dict[str, np.ndarray],
    colors: dict[str, str],
    y: str = "test error (RMSE)",
    legend: bool = True,
) -> Panel:
    """Mean test errors over seeds with their standard errors, as in the paper.

    The errors of the first updates are outside the plot: they do not differ between data sets.

    Args:
        title: The panel's title.
        updates: Where networks were tested, shape (evaluations,).
        errors: Test errors by name, shape (seeds, evaluations).
        colors: Colours by the same names.
        y: Label of the vertical axis.
        legend: Whether the panel has one.

    """
    marks = [_curve(updates, values, name, colors[name]) for name, values in errors.items()]
    plateau = LineStyle("0.5", "dotted")
    return Panel(
        title=title,
        x=Axis("mini-batch updates", si_prefixes=True),
        y=Axis(y, high=TOP * PLATEAU),
        marks=marks,
        # The error if only the low-frequency half has been learned.
        rules=[Rule(PLATEAU, style=plateau, label="low-frequency half only")],
        legend=Legend("upper right") if legend else None,
    )


def _curve(at: np.ndarray, values: np.ndarray, label: str, color: str) -> SeedCurve:
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    shaded = mean - error, mean + error
    return SeedCurve(at, values, LineStyle(color), shaded, shade=0.25, label=label)


CLAIMS = 3
"""The number of claims of each comparison below."""


def compared(
    updates: np.ndarray,
    errors: dict[str, np.ndarray],
    name: str,
    other: str,
    paper: str,
    better: bool = True,
    *,
    comparisons: int,
) -> list[Claim]:
    """The claims that one setting learns faster or slower than another.

    Args:
        updates: Where networks were tested, shape (evaluations,).
        errors: Test errors by setting, shape (seeds, evaluations).
        name: The setting that learns faster, or slower.
        other: The setting it is compared with, seed by seed.
        paper: What the paper claims about the difference; "-" if nothing.
        better: Whether `name` is the faster one.
        comparisons: The number of such comparisons in the figure, for which intervals are
            corrected.

    Returns:
        Claims on the updates to the thresholds, and on the test error over the run and at its end.

    """
    difference = errors[name] - errors[other]
    late = updates > END * updates[-1]
    what = f"{name} − {other}"
    if paper == "-":
        what += f" (own check: {'below' if better else 'above'} 0)"
    rows = CLAIMS * comparisons
    return [
        speed_claim(what, paper, updates, errors[name], errors[other], better, rows),
        claims.difference(
            f"{what}, test error over the whole run of {updates[-1]:,} updates",
            paper,
            difference.mean(axis=1),
            better,
            rows=rows,
        ),
        claims.difference(
            f"{what}, test error in the last tenth",
            paper,
            difference[:, late].mean(axis=1),
            better,
            rows=rows,
        ),
    ]
