"""Learning curves in the figures: their colours, intervals and panels."""

from collections.abc import Iterable, Mapping

import numpy as np

from freqdyna.results.chart import Axis, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.run_styles import COLORS, FREE
from freqdyna.results.statistics import bootstrap_interval
from reproduction.study import Stored, curves

SHADED = "shaded: 95% interval of the mean"
SMALL = 8.33
"""Size of a legend's text that leaves room for the curves."""
_KNOWN = {algorithm.replace("-", ""): color for algorithm, color in COLORS.items()}


def styles(names: Iterable[str]) -> dict[str, LineStyle]:
    """The library's colour of each algorithm, by names such as "ER" or "Dyna-Value, d = 10".

    Curves with a learned model are dashed, and the variants of NAF look like those of DQN.
    """
    chosen, free = dict(_KNOWN), iter(FREE)
    found = {}
    for name in names:
        algorithm = name.lower().partition(",")[0].partition(";")[0].partition(" ")[0]
        key = algorithm.replace("naf", "").replace("-", "")
        color = chosen.setdefault(key, chosen.get(key) or f"tab:{next(free)}")
        found[name] = LineStyle(color, "dashed" if "learned model" in name else "solid")
    return found


def named_curves(found: Mapping[str, Stored]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and returns of trainings by name."""
    return {name: curves(stored) for name, stored in found.items()}


def curves_panel(
    title: str,
    found: Mapping[str, tuple[np.ndarray, np.ndarray]],
    x: str = "environment steps",
    legend: Legend | None = None,
) -> Panel:
    """A panel of learning curves: means over seeds with their 95% intervals.

    `found` has steps of shape (evaluations,) and returns of shape (seeds, evaluations) by name.
    """
    style_of = styles(found)
    marks = [
        SeedCurve(at, returns, style_of[name], bootstrap_interval(returns), shade=0.15, label=name)
        for name, (at, returns) in found.items()
    ]
    return Panel(title, x=Axis(x, si_prefixes=True), y=Axis("return"), marks=marks, legend=legend)
