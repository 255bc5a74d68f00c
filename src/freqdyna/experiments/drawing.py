"""How the figures look: sizes, colours, and learning curves with their intervals."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from freqdyna.experiments.base import Stored
from freqdyna.experiments.trainings import curves
from freqdyna.results.seed_curve import draw_curve
from freqdyna.results.statistics import bootstrap_interval

COLORS = {
    "ER": "forestgreen",
    "PrioritizedER": "blue",
    "Dyna-Value": "red",
    "Dyna-Frequency": "black",
    "Dyna-GradNorm": "darkorange",
    "Dyna-HessNorm": "mediumvioletred",
    "Dyna-V+g": "teal",
    "Dyna-V·g": "purple",
    "NAF": "forestgreen",
    "DynaNAF-Value": "red",
    "DynaNAF-Frequency": "black",
}
"""The paper's colours of algorithms, and ours where its captions name none."""
PART_OF = "_of "
"""Begins the label of a mark that belongs to a series; Matplotlib's legend leaves it out."""
PANEL = (5.0, 4.0)
"""Inches of a panel."""


def panels(rows: int, columns: int, width: float = PANEL[0], height: float = PANEL[1]) -> Figure:
    """A figure for a talk: panels of a readable size."""
    return Figure(figsize=(width * columns, height * rows), dpi=150, layout="constrained")


def finish(panel: Axes, title: str, x: str, y: str) -> None:
    """Title, labels and a light grid."""
    panel.set_title(title)
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)


def learning_curve(panel: Axes, steps: np.ndarray, returns: np.ndarray, name: str) -> None:
    """Mean return over seeds with its 95% interval, in the paper's colours."""
    color = next((c for known, c in COLORS.items() if name.startswith(known)), "purple")
    style: dict[str, Any] = {
        "linestyle": "--" if "learned model" in name else "-",
        "linewidth": 1.5,
    }
    shaded = bootstrap_interval(returns)
    draw_curve(panel, steps, returns, shaded, 0.15, color=color, label=name, **style)
    panel.xaxis.set_major_formatter(EngFormatter(sep=""))


def by_environment(found: dict[tuple[str, str], Stored], updates: int) -> Figure:
    """A panel of learning curves for each environment; trainings by environment and algorithm."""
    environments = list(dict.fromkeys(env for env, _ in found))
    figure = panels(1, len(environments))
    grid = figure.subplots(1, len(environments), squeeze=False)[0]
    for panel, env in zip(grid, environments, strict=True):
        for (where, name), stored in found.items():
            if where == env:
                learning_curve(panel, *curves(stored), name)
        finish(panel, f"{env}, {updates} updates", "environment steps", "return")
    grid[0].legend(frameon=False)
    return figure


def curve(panel: Axes, at: np.ndarray, values: np.ndarray, label: str, color: str) -> None:
    """Mean over seeds (the first axis), its standard error shaded, as in the paper."""
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    shaded = mean - error, mean + error
    draw_curve(panel, at, values, shaded, 0.25, color=color, label=label, linewidth=1.5)
    panel.xaxis.set_major_formatter(EngFormatter(sep=""))
