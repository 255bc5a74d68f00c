"""Learning curves in the figures: their colours, intervals and panels."""

from collections.abc import Iterable, Mapping

import numpy as np

from freqdyna.results.chart import Axis, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.run_styles import COLORS, FREE
from freqdyna.results.statistics import bootstrap_interval
from reproduction.study import Stored, curves, left_out

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


def learning_curve(
    steps: np.ndarray, returns: np.ndarray, name: str, style: LineStyle
) -> SeedCurve:
    """Mean return over seeds, from shape (seeds, evaluations), with its 95% interval."""
    return SeedCurve(steps, returns, style, bootstrap_interval(returns), shade=0.15, label=name)


def named_curves(found: Mapping[str, Stored]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and returns of trainings by name; the name also says which seeds are left out."""
    labels = {name: left_out(stored) for name, stored in found.items()}
    return {
        f"{name} ({labels[name]})" if labels[name] else name: curves(stored)
        for name, stored in found.items()
    }


def curves_panel(
    title: str,
    found: Mapping[str, tuple[np.ndarray, np.ndarray]],
    x: str = "environment steps",
    legend: Legend | None = None,
) -> Panel:
    """A panel of learning curves.

    Args:
        title: The panel's title.
        found: Steps of shape (evaluations,) and returns of shape (seeds, evaluations) by name.
        x: What the steps are.
        legend: The panel's legend, if it has one.

    """
    style_of = styles(found)
    return Panel(
        title=title,
        x=Axis(x, si_prefixes=True),
        y=Axis("return"),
        marks=[learning_curve(*pair, name, style_of[name]) for name, pair in found.items()],
        legend=legend,
    )
