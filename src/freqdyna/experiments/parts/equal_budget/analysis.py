"""The evaluation of R: each algorithm with its best setting, and returns against compute."""

import math
from functools import partial

import numpy as np

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.learning_curves import SMALL, curves_panel, named_curves
from freqdyna.experiments.parts.equal_budget.units import ALGORITHMS, PAPER, Grid, by_point
from freqdyna.experiments.trainings import area, curves, left_out, seeds_of
from freqdyna.results.chart import Chart, Legend

UPDATES = 10
POINTS = 200
"""Points of compute at which returns are compared."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Two panels: curves with the best settings, and the paper's setting against compute."""
    grid = by_point(units)
    best = {name: _best(grid, name) for name in ALGORITHMS}
    tuned = named_curves(
        {
            f"{name}: rate {point[0]:g}, period {point[1]:,}": grid[name, *point]
            for name, point in best.items()
        }
    )
    compute = {name: _against_compute(grid[name, *PAPER]) for name in ALGORITHMS}
    least = min(costs[:, -1].min() for costs, _ in compute.values())
    at = np.linspace(0, least, POINTS + 1)[1:]
    returns = {name: _at(at, *pair) for name, pair in compute.items()}
    small, equal = Legend(size=SMALL), {name: (at, values) for name, values in returns.items()}
    panels = [
        curves_panel("best setting of each", tuned, legend=small),
        curves_panel("the paper's settings", equal, "updates + climbing steps", small),
    ]
    title = "R: MountainCar, 10 updates: with equal tuning, and with equal compute"
    chart = Chart(panels, title, share_y=True)
    frequency = "Dyna-Frequency"
    comparisons = [
        Comparison.of(
            f"{frequency} − {other}, best setting of each, area over the held-out seeds",
            "above 0 (own check)",
            partial(_area_of_half, odd=True),
            grid[frequency, *best[frequency]],
            grid[other, *best[other]],
        )
        for other in ALGORITHMS
        if other != frequency
    ]
    comparisons += [
        Comparison(
            f"{frequency} − {other}, mean return with equal compute",
            "above 0 (own check)",
            returns[frequency].mean(axis=1),
            returns[other].mean(axis=1),
            left_out(grid[frequency, *PAPER], grid[other, *PAPER]),
        )
        for other in ALGORITHMS
        if other != frequency
    ]
    rows = [["learning rate", "target period", *ALGORITHMS]]
    for rate, period in dict.fromkeys(key[1:] for key in grid):
        cells = [_mean_area(grid[name, rate, period]) for name in ALGORITHMS]
        rows.append([f"{rate:g}", f"{period:,}", *cells])
    note = (
        "The best setting of an algorithm is chosen by the mean area of the seeds 0, 2, 4, ...; "
        "the comparison uses the other seeds, so that the choice gives no advantage. An update and "
        "a climbing step each count as one unit of compute, although an update costs more."
    )
    return Findings(chart, judge(comparisons), rows, (note,))


def _mean_area(stored: Stored) -> str:
    seeds = left_out(stored)
    return f"{area(stored).mean():.0f}" + (f"; {seeds}" if seeds else "")


def _best(grid: Grid, name: str) -> tuple[float, int]:
    points = [(rate, period) for known, rate, period in grid if known == name]

    def mean(point: tuple[float, int]) -> float:
        values = _area_of_half(grid[name, *point], odd=False)
        return float(values.mean()) if len(values) else -math.inf

    return max(points, key=mean)


def _area_of_half(stored: Stored, odd: bool) -> np.ndarray:
    """The areas of the seeds with odd, or with even, numbers."""
    return area(stored)[seeds_of(stored) % 2 == odd]


def _against_compute(stored: Stored) -> tuple[np.ndarray, np.ndarray]:
    """Updates plus climbing steps before each evaluation, and returns: (seeds, evaluations)."""
    steps, returns = curves(stored)
    each = np.full(returns.shape, float(UPDATES))
    if "climb_iterations" in stored.columns:
        each = each + np.nan_to_num(curves(stored, "climb_iterations")[1])
    return np.cumsum(each * np.diff(steps, prepend=0), axis=1), returns


def _at(points: np.ndarray, costs: np.ndarray, returns: np.ndarray) -> np.ndarray:
    """Each seed's returns at the given points of compute, shape (seeds, points)."""
    pairs = zip(costs, returns, strict=True)
    return np.stack([np.interp(points, cost, values) for cost, values in pairs])
