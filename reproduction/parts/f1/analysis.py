"""The evaluation of F1: test error over updates, and whether biased data are learned faster."""

import numpy as np

from freqdyna.results.chart import Chart, Panel
from reproduction.base import Findings, Stored
from reproduction.claims import Claim
from reproduction.parts.f1.units import SHARES
from reproduction.parts.regression.curves import SHADED, compared, errors_panel
from reproduction.parts.regression.regression import POINTS, TEST_POINTS, curves_by_setting
from reproduction.parts.regression.run_length import length_note, length_table
from reproduction.parts.regression.speed import speed_note, speed_table

COLORS = {"Unbiased": "blue", "Biased-high": "black", "Biased-low": "darkorange"}


def analyse(units: dict[str, Stored]) -> Findings:
    """One panel for each p_b; the settings compared with each other, paired by seed."""
    updates, errors = curves_by_setting(units["curves"].columns)
    panels: list[Panel] = []
    found: list[Claim] = []
    number = 3 * len(SHARES)
    for share in SHARES:
        keys = {name: name if name == "Unbiased" else f"{name} {share}%" for name in COLORS}
        first = share == SHARES[0]
        panels.append(
            errors_panel(
                f"p_b = {share}%",
                updates,
                {name: errors[key] for name, key in keys.items()},
                COLORS,
                y="test error (RMSE)" if first else "",
                legend=first,
            )
        )
        found += compared(
            updates, errors, f"Biased-high {share}%", "Unbiased", "below 0", comparisons=number
        )
    for share in SHARES:
        high, low = f"Biased-high {share}%", f"Biased-low {share}%"
        found += compared(updates, errors, high, low, "below 0 (text)", comparisons=number)
    for share in SHARES:
        found += compared(
            updates,
            errors,
            f"Biased-low {share}%",
            "Unbiased",
            "-",
            better=False,
            comparisons=number,
        )
    seeds = len(errors["Unbiased"])
    chart = Chart(panels, f"F1: regression of f_sin, {seeds} seeds", SHADED, share_y=True)
    high_settings = [f"Biased-high {share}%" for share in SHARES]
    biased = updates, errors, high_settings, "Unbiased"
    notes = (
        f"Not stated in the paper, and chosen by us: {POINTS:,} training points, "
        f"{updates[-1]:,} updates, {TEST_POINTS:,} test points without noise, uniform in [−2, 2].",
        speed_note(updates),
        length_note(*biased, "more for a higher share"),
        "The mean error stays below that of Unbiased from this update on: "
        + ", ".join(
            f"{name} {ahead_from(updates, errors[name], errors['Unbiased'])}"
            for name in high_settings
        )
        + ".",
    )
    tables = speed_table(updates, errors), length_table(*biased)
    return Findings(chart, found, tables[0], notes, tables[1:])


def ahead_from(updates: np.ndarray, errors: np.ndarray, others: np.ndarray) -> str:
    """The first update from which the mean error stays below the others' mean, as text."""
    behind = np.flatnonzero(errors.mean(axis=0) >= others.mean(axis=0))
    if len(behind) == 0:
        return "the first evaluation"
    last = int(behind[-1])
    return f"{updates[last + 1]:,}" if last + 1 < len(updates) else "never"
