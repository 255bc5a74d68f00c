"""A learning curve that remembers its seeds, so that a report can show more than their mean."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D


class SeedCurve(Line2D):
    """The mean over seeds."""

    def __init__(self, at: np.ndarray, values: np.ndarray, seeds: np.ndarray, **style: Any) -> None:
        super().__init__(at, values.mean(axis=0), **style)
        self.values = values
        """What it is the mean of, shape (seeds, evaluations)."""
        self.seeds = seeds
        """The number of each seed, shape (seeds,)."""


def draw_curve(
    panel: Axes,
    at: np.ndarray,
    values: np.ndarray,
    interval: tuple[np.ndarray, np.ndarray] | None,
    shade: float,
    seeds: np.ndarray | None = None,
    **style: Any,
) -> None:
    """The mean of (seeds, evaluations) over seeds, numbered from 0 if not given; an interval."""
    numbers = np.arange(len(values)) if seeds is None else seeds
    panel.add_line(SeedCurve(at, values, numbers, **style))
    panel.autoscale_view()
    if interval is not None:
        panel.fill_between(at, *interval, color=style["color"], alpha=shade, linewidth=0)
