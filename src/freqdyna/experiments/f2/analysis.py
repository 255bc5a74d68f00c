"""What F2 shows: curves of the three data sets, where biased points lie, and the four shares."""

import numpy as np

from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.f1.analysis import END, TOP, against_unbiased
from freqdyna.experiments.f2.sweep import BAND, BY_NORM, SHOWN, SPIKE
from freqdyna.experiments.f_sin import HIGH, LOW
from freqdyna.experiments.regression import curves_by_setting

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
    figure = drawing.panels(1, 3)
    learning, *scatters = figure.subplots(1, 3)
    for name, color in COLORS.items():
        drawing.curve(learning, updates, errors[name], name, color)
    drawing.finish(learning, "learning curves", "mini-batch updates", "test error (RMSE)")
    learning.set_ylim(top=TOP * errors["Unbiased"][:, len(updates) // 10].mean())
    learning.legend(frameon=False)
    for panel, name in zip(scatters, BY_NORM, strict=True):
        own = points["setting"] == name
        for spike in (-SPIKE, SPIKE):
            panel.axhspan(spike - BAND, spike + BAND, color="gold", alpha=0.4, linewidth=0)
        panel.scatter(points["x"][own], points["y"][own], s=4, color="tab:blue", linewidths=0)
        found = {k: shares[k][shares["setting"] == name].mean() for k in WORDS}
        text = ", ".join(f"{share:.1f}% {WORDS[k]}" for k, share in found.items())
        drawing.finish(panel, f"{name}: {SHOWN:,} points\n{text}", "x", "noisy y")
        panel.set_xlim(LOW, HIGH)
    seeds = len(errors["Unbiased"])
    figure.suptitle(
        f"F2: data biased by gradient or Hessian, {seeds} seeds, shaded: standard error"
    )
    rows = [
        claims.share(f"{name}: points {WORDS[k]}", paper, shares[k][shares["setting"] == name])
        for k in WORDS
        for name, paper in ((name, PAPER[name][k]) for name in BY_NORM)
    ]
    for name in BY_NORM:
        rows += against_unbiased(updates, errors, name, better=True)
    difference = errors["Biased-HessianNorm"] - errors["Biased-GradientNorm"]
    late = updates > END * updates[-1]
    what = "Biased-HessianNorm − Biased-GradientNorm, test error"
    rows += [
        claims.difference(f"{what} over the whole run", "below 0", difference.mean(axis=1)),
        claims.difference(f"{what} in the last tenth", "below 0", difference[:, late].mean(axis=1)),
    ]
    data_sets = len(np.unique(shares["data_set"]))
    notes = (
        f"Shares: mean over {data_sets:,} data sets, and the range of 95% of them, of {SHOWN:,} "
        "points each. The band is taken on the noisy y.",
        "The paper's shares have more digits than 1,000 points can give, so it counted more; with "
        "more points the range would be narrower.",
    )
    return Findings(figure, rows, notes)
