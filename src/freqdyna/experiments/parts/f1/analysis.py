"""What F1 shows: test error against updates, and whether biased data learn faster."""

import numpy as np
from matplotlib.axes import Axes

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.claims import Claim
from freqdyna.experiments.parts.f1.units import SHARES
from freqdyna.experiments.parts.regression.regression import POINTS, TEST_POINTS, curves_by_setting
from freqdyna.experiments.parts.regression.run_length import length_note, length_table
from freqdyna.experiments.parts.regression.speed import (
    PLATEAU,
    speed_claim,
    speed_note,
    speed_table,
)

COLORS = {"Unbiased": "blue", "Biased-high": "black", "Biased-low": "darkorange"}
END = 0.9
"""The end of a run: the evaluations after this share of its updates."""
TOP = 1.2
"""Upper end of the picture, by the plateau."""


def analyse(units: dict[str, Stored]) -> Findings:
    """One panel for each p_b; the settings against each other, seed by seed."""
    updates, errors = curves_by_setting(units["curves"].columns)
    figure = drawing.panels(1, len(SHARES))
    rows = figure.subplots(1, len(SHARES), sharey=True)
    found: list[Claim] = []
    for panel, share in zip(rows, SHARES, strict=True):
        for name, color in COLORS.items():
            key = name if name == "Unbiased" else f"{name} {share}%"
            drawing.curve(panel, updates, errors[key], name, color)
        mark_plateau(panel)
        label = "test error (RMSE)" if panel is rows[0] else ""
        drawing.finish(panel, f"$p_b$ = {share}%", "mini-batch updates", label)
        found += compared(updates, errors, f"Biased-high {share}%", "Unbiased", "below 0")
    for share in SHARES:
        high, low = f"Biased-high {share}%", f"Biased-low {share}%"
        found += compared(updates, errors, high, low, "below 0 (text)")
    for share in SHARES:
        found += compared(updates, errors, f"Biased-low {share}%", "Unbiased", "-", better=False)
    cut_start(rows[0])
    rows[0].legend(frameon=False, loc="upper right")
    seeds = len(errors["Unbiased"])
    figure.suptitle(f"F1: regression of f_sin, {seeds} seeds, shaded: standard error")
    high_settings = [f"Biased-high {share}%" for share in SHARES]
    biased = updates, errors, high_settings, "Unbiased"
    notes = (
        f"Not in the paper, and chosen here: {POINTS:,} training points, {updates[-1]:,} updates, "
        f"{TEST_POINTS:,} test points without noise, uniform in [−2, 2].",
        speed_note(updates),
        length_note(*biased, "the more so the higher the share"),
        "From where on the mean error stays below that of Unbiased: "
        + ", ".join(
            f"{name} {ahead_from(updates, errors[name], errors['Unbiased'])}"
            for name in high_settings
        )
        + ".",
    )
    tables = speed_table(updates, errors), length_table(*biased)
    return Findings(figure, found, tables[0], notes, tables[1:])


def mark_plateau(panel: Axes) -> None:
    """Show where the low frequency half is known and the other is not."""
    panel.axhline(PLATEAU, color="0.5", linestyle=":", label="low frequency half only")


def cut_start(panel: Axes) -> None:
    """Let the first updates leave the picture above: they do not tell the data sets apart.

    To be called when all curves are drawn, since it fixes the lower end too.
    """
    panel.set_ylim(top=TOP * PLATEAU)


def ahead_from(updates: np.ndarray, errors: np.ndarray, others: np.ndarray) -> str:
    """The update from which on the mean error is below the others' mean, in words."""
    behind = np.flatnonzero(errors.mean(axis=0) >= others.mean(axis=0))
    if len(behind) == 0:
        return "the first evaluation on"
    last = int(behind[-1])
    return f"update {updates[last + 1]:,} on" if last + 1 < len(updates) else "not by the end"


def compared(
    updates: np.ndarray,
    errors: dict[str, np.ndarray],
    name: str,
    other: str,
    paper: str,
    better: bool = True,
) -> list[Claim]:
    """That `name` learns faster (or slower): updates to the thresholds, and the test error.

    If the paper does not say so, the row does.
    """
    difference = errors[name] - errors[other]
    late = updates > END * updates[-1]
    what = f"{name} − {other}"
    if paper == "-":
        what += f" (ours: {'below' if better else 'above'} 0)"
    return [
        speed_claim(what, paper, updates, errors[name], errors[other], better),
        claims.difference(
            f"{what}, test error over the whole run of {updates[-1]:,} updates",
            paper,
            difference.mean(axis=1),
            better,
        ),
        claims.difference(
            f"{what}, test error in the last tenth",
            paper,
            difference[:, late].mean(axis=1),
            better,
        ),
    ]
