"""Learning curves in the figures: their colours, intervals and panels."""

from collections.abc import Iterable, Mapping

import numpy as np

from freqdyna.results.chart import COLORS, FREE, Axis, Dash, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.statistics import bootstrap_interval
from reproduction.study import Stored, curves

SHADED = "shaded: 95% interval of the mean"
SMALL = 8.33
"""Size of a legend's text that leaves room for the curves."""
DASHES: dict[str, Dash] = {"learned model": "dashed", "walls inside": "dotted"}
"""By what a name contains."""
_KNOWN = {algorithm.replace("-", ""): color for algorithm, color in COLORS.items()}


def styles(names: Iterable[str]) -> dict[str, LineStyle]:
    """The library's colour of each algorithm, by names such as "ER" or "Dyna-Value, d = 10".

    The variants of NAF look like those of DQN.
    """
    chosen, free = dict(_KNOWN), iter(FREE)
    by_name = {}
    for name in names:
        algorithm = name.lower().partition(",")[0].partition(";")[0].partition(" ")[0]
        key = algorithm.replace("naf", "").replace("-", "")
        color = chosen.setdefault(key, chosen.get(key) or f"tab:{next(free)}")
        dashes = [dash for words, dash in DASHES.items() if words in name]
        by_name[name] = LineStyle(color, *dashes)
    return by_name


def curves_panels(
    by_panel: Mapping[str, Mapping[str, Stored]], legend: Legend | None = None
) -> list[Panel]:
    """A panel of learning curves for each title; the first has the legend."""
    legends = [legend or Legend(), *[None] * len(by_panel)]
    return [
        curves_panel(title, {name: curves(one) for name, one in of.items()}, legend=legends[i])
        for i, (title, of) in enumerate(by_panel.items())
    ]


def curves_panel(
    title: str,
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    x: str = "environment steps",
    legend: Legend | None = None,
) -> Panel:
    """A panel of curves, each steps and returns (seeds, steps): means with their 95% intervals."""
    style_of = styles(curves)
    marks = [
        SeedCurve(at, returns, style_of[name], bootstrap_interval(returns), label=name)
        for name, (at, returns) in curves.items()
    ]
    return Panel(title, x=Axis(x), y=Axis("return"), marks=marks, legend=legend)
