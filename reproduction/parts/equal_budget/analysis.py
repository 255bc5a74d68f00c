"""The evaluation of R: each algorithm with its best setting, and returns against compute."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from freqdyna.results.chart import Chart, Legend, Panel
from reproduction.base import Findings, Stored
from reproduction.comparisons import Comparison, judge
from reproduction.learning_curves import SMALL, curves_panel, named_curves
from reproduction.parts.equal_budget.units import (
    ALGORITHMS,
    LEARNING_RATES,
    PAPER,
    TARGET_PERIODS,
    Grid,
    grids,
)
from reproduction.readings import RULE, judge_under_all
from reproduction.stored_trainings import area, curves, left_out, seeds_of, training_of

UPDATES = 10
POINTS = 200
"""Points of compute at which returns are compared."""


def analyse(units: dict[str, Stored]) -> Findings:
    """For each interpretation two panels: the best settings, and the paper's against compute."""
    found = {reading: _Tuned.of(grid) for reading, grid in grids(units).items()}
    panels = [panel for reading, tuned in found.items() for panel in tuned.panels(reading)]
    title = "R: MountainCar, 10 updates: with equal tuning, and with equal compute"
    chart = Chart(panels, title, columns=2, share_y=True)
    compared = {reading: tuned.comparisons() for reading, tuned in found.items()}
    note = (
        "The best setting of an algorithm, within this grid, is chosen by the mean area of the "
        "seeds 0, 2, 4, ...; the comparison uses the other seeds, so that the choice gives no "
        "advantage. The paper's setting has 100 seeds, the others 30. An update and a climbing "
        "step each count as one unit of compute, although an update costs more."
    )
    notes = [note, *(tuned.edges(reading) for reading, tuned in found.items())]
    notes += [RULE] if len(found) > 1 else []
    first, *others = (tuned.table(reading) for reading, tuned in found.items())
    return Findings(chart, judge_under_all(compared, judge), first, notes, others)


@dataclass(frozen=True)
class _Tuned:
    """The grid under one interpretation."""

    grid: Grid
    best: dict[str, tuple[float, int]]
    """The best point of each algorithm."""
    at: np.ndarray
    """Points of compute, shape (points,)."""
    returns: dict[str, np.ndarray]
    """Returns of each algorithm with the paper's setting at these points, (seeds, points)."""

    @staticmethod
    def of(grid: Grid) -> "_Tuned":
        compute = {name: _against_compute(grid[name, *PAPER]) for name in ALGORITHMS}
        least = min(costs[:, -1].min() for costs, _ in compute.values())
        at = np.linspace(0, least, POINTS + 1)[1:]
        returns = {name: _at(at, *pair) for name, pair in compute.items()}
        return _Tuned(grid, {name: _best(grid, name) for name in ALGORITHMS}, at, returns)

    def panels(self, reading: str) -> list[Panel]:
        tuned = named_curves(
            {
                f"{name}: rate {point[0]:g}, period {point[1]:,}": self.grid[name, *point]
                for name, point in self.best.items()
            }
        )
        small, equal = Legend(size=SMALL), {n: (self.at, one) for n, one in self.returns.items()}
        cost = "updates + climbing steps"
        return [
            curves_panel(f"best setting of each, updates {reading}", tuned, legend=small),
            curves_panel(f"the paper's settings, updates {reading}", equal, cost, small),
        ]

    def comparisons(self) -> list[Comparison]:
        grid, best, frequency = self.grid, self.best, "Dyna-Frequency"
        others = [name for name in ALGORITHMS if name != frequency]
        tuned = [
            Comparison.of(
                f"{frequency} − {other}, best setting of each, area over the held-out seeds",
                "above 0 (own check)",
                partial(_area_of_half, odd=True),
                grid[frequency, *best[frequency]],
                grid[other, *best[other]],
            )
            for other in others
        ]
        return tuned + [
            Comparison(
                f"{frequency} − {other}, mean return with equal compute",
                "above 0 (own check)",
                self.returns[frequency].mean(axis=1),
                self.returns[other].mean(axis=1),
                left_out(grid[frequency, *PAPER], grid[other, *PAPER]),
            )
            for other in others
        ]

    def table(self, reading: str) -> list[list[str]]:
        rows = [[f"learning rate (updates {reading})", "target period", *ALGORITHMS]]
        for rate, period in dict.fromkeys(key[1:] for key in self.grid):
            cells = [_mean_area(self.grid[name, rate, period]) for name in ALGORITHMS]
            rows.append([f"{rate:g}", f"{period:,}", *cells])
        return rows

    def edges(self, reading: str) -> str:
        """Which algorithms have their best point on the edge of the grid."""
        on_edge = [
            name
            for name, (rate, period) in self.best.items()
            if rate in (LEARNING_RATES[0], LEARNING_RATES[-1])
            or period in (TARGET_PERIODS[0], TARGET_PERIODS[-1])
        ]
        where = ", ".join(on_edge) or "no algorithm"
        return f"Updates {reading}: best points on the edge of the grid: {where}."


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
    """Updates plus climbing steps before each evaluation, and returns: (seeds, evaluations).

    Trainings that wait for the end of the warm-up make neither before it.
    """
    steps, returns = curves(stored)
    config = training_of(stored).config
    first = 0 if config.learn_in_warmup else config.warmup_steps
    each = np.full(returns.shape, float(UPDATES))
    if "climb_iterations" in stored.columns:
        each = each + np.nan_to_num(curves(stored, "climb_iterations")[1])
    return np.cumsum(each * np.diff(np.maximum(steps, first), prepend=first), axis=1), returns


def _at(points: np.ndarray, costs: np.ndarray, returns: np.ndarray) -> np.ndarray:
    """Each seed's returns at the given points of compute, shape (seeds, points)."""
    pairs = zip(costs, returns, strict=True)
    return np.stack([np.interp(points, cost, values) for cost, values in pairs])
