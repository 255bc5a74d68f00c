"""The evaluation of F2: curves of the three data sets, the biased points, and four shares."""

import numpy as np

from freqdyna.results.chart import Axis, Box, Chart, Panel, Points
from reproduction import claims
from reproduction.base import Columns, Findings, Stored
from reproduction.parts.f2.units import BAND, BY_NORM, SHOWN, SPIKE, in_regions
from reproduction.parts.regression.curves import SHADED, compared, errors_panel
from reproduction.parts.regression.f_sin import HIGH, LOW
from reproduction.parts.regression.regression import curves_by_setting
from reproduction.parts.regression.run_length import length_note, length_table
from reproduction.parts.regression.speed import speed_note, speed_table

COLORS = {"Unbiased": "blue", "Biased-GradientNorm": "red", "Biased-HessianNorm": "black"}
PAPER = {
    "Biased-GradientNorm": {"high_frequency": 65.35, "spikes": 18.17},
    "Biased-HessianNorm": {"high_frequency": 68.97, "spikes": 27.45},
}
WORDS = {"high_frequency": "in [−2, 0]", "spikes": "in the spike band"}


def analyse(units: dict[str, Stored]) -> Findings:
    """The paper's three panels."""
    updates, errors = curves_by_setting(units["curves"].columns)
    shares, points = units["shares"].columns, units["points"].columns
    own = {name: errors[name] for name in COLORS}
    panels = [
        errors_panel("learning curves", updates, own, COLORS),
        *(_points_panel(points, name) for name in BY_NORM),
    ]
    seeds = len(errors["Unbiased"])
    title = f"F2: data biased by gradient or Hessian, {seeds} seeds"
    chart = Chart(panels, title, SHADED)
    rows = [
        claims.share(f"{name}: points {WORDS[k]}", paper, shares[k][shares["setting"] == name])
        for k in WORDS
        for name, paper in ((name, PAPER[name][k]) for name in BY_NORM)
    ]
    for name in BY_NORM:
        rows += compared(updates, errors, name, "Unbiased", "below 0", comparisons=3)
    hessian, gradient = "Biased-HessianNorm", "Biased-GradientNorm"
    rows += compared(updates, errors, hessian, gradient, "below 0", comparisons=3)
    data_sets = len(np.unique(shares["data_set"]))
    expected = "; ".join(
        f"{name} "
        + ", ".join(f"{shares[k][shares['setting'] == name].mean():.1f}% {WORDS[k]}" for k in WORDS)
        for name in BY_NORM
    )
    biased = updates, errors, list(BY_NORM), "Unbiased"
    notes = (
        f"Percentages: mean over {data_sets:,} data sets of {SHOWN:,} points each, and the range "
        "of 95% of them. The band refers to the noisy y.",
        f"The titles of the figure give the percentages of the {SHOWN:,} points shown; the "
        f"expected values are {expected}.",
        "The paper's percentages have more digits than 1,000 points allow, so it must have counted "
        "more points; with more points the range would be narrower.",
        speed_note(updates),
        length_note(*biased),
        f"The {seeds} runs of Unbiased are the same as in F1: same seeds, data and mini-batches. "
        "The comparisons with it in F1 and F2 are therefore not independent.",
    )
    tables = speed_table(updates, errors), length_table(*biased)
    return Findings(chart, rows, tables[0], notes, tables[1:])


def _points_panel(points: Columns, name: str) -> Panel:
    """The points of a data set, with the spike band shaded and their shares in the title."""
    own = points["setting"] == name
    x, y = points["x"][own], points["y"][own]
    band = f"spike band: noisy y within {BAND:g} of ±{SPIKE:g}"
    shares = zip(in_regions(x, y), WORDS.values(), strict=True)
    text = ", ".join(f"{100 * inside.mean():.1f}% {words}" for inside, words in shares)
    return Panel(
        title=f"{name}: {SHOWN:,} points\n{text}",
        x=Axis("x", low=LOW, high=HIGH),
        y=Axis("noisy y"),
        marks=[Points(x, y, "tab:blue", size=5)],
        boxes=[
            Box(None, (spike - BAND, spike + BAND), "gold", opacity=0.4, label=band)
            for spike in (-SPIKE, SPIKE)
        ],
    )
