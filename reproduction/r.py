"""R, one of our own checks: the ranking with equal tuning and with equal compute.

A grid of learning rates and target periods for four algorithms, each under both interpretations of
when updates begin.
"""

import math
from itertools import product
from typing import Any

import numpy as np

from freqdyna.results.chart import Chart, Legend
from reproduction import comparisons, study
from reproduction.claims import Statement
from reproduction.comparisons import WHEN_UPDATES_BEGIN, Comparison, judge
from reproduction.curves import SMALL, curves_panel, curves_panels
from reproduction.study import Findings, Part, Stored, Unit, area, grouped, training

FREQUENCY = "Dyna-Frequency"
RIVALS = {"ER": "er", "PrioritizedER": "prioritized-er", "Dyna-Value": "dyna-value"}
ALGORITHMS = RIVALS | {FREQUENCY: "dyna-frequency"}
UPDATES = 10
LEARNING_RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01)
TARGET_PERIODS = (100, 300, 1000, 3000, 10_000)
PAPER = (0.001, 1000)
POINTS = 200
"""Points of compute at which returns are compared."""
TUNED = Statement(
    "MountainCar: Dyna-Frequency is ahead of the other three, each with its best setting within a "
    "grid"
)
EQUAL_COMPUTE = {
    name: Statement(
        f"MountainCar: Dyna-Frequency is ahead of {name} with equal compute",
        main=name == "PrioritizedER",
    )
    for name in RIVALS
}
HOW = (
    "The best setting of an algorithm, within this grid, is chosen by the mean area of the seeds "
    "0, 2, 4, ...; the comparison uses the other seeds, so that the choice gives no advantage. The "
    "paper's setting has 100 seeds, the others 30. An update and a climbing step each count as one "
    "unit of compute, although an update costs more."
)
Grid = dict[tuple[str, float, int], Stored]
"""By algorithm, learning rate and target period."""


def settings(interpretation: str, point: tuple[str, float, int]) -> dict[str, Any]:
    """One training; with the paper's setting it is a cell of F3."""
    name, rate, period = point
    cell = {"env": "MountainCar-v0", "planning_steps": UPDATES, "env.reward_noise": 0.0}
    cell |= {"algorithm": ALGORITHMS[name]} | WHEN_UPDATES_BEGIN[interpretation]
    tuned = {"learner.learning_rate": rate, "learner.target_period": period}
    return cell if (rate, period) == PAPER else cell | tuned


def units(quick: bool) -> list[Unit]:
    """The whole grid, the longest first; a quick run has only the paper's setting."""
    points = [PAPER] if quick else list(product(LEARNING_RATES, TARGET_PERIODS))
    return [
        training(quick, **settings(interpretation, (name, *point)))
        for interpretation in list(WHEN_UPDATES_BEGIN)[: 1 if quick else None]
        for name in reversed(ALGORITHMS)
        for point in points
    ]


def analyse(units: dict[str, Stored]) -> Findings:
    """For each interpretation two panels: the best settings, and the paper's against compute."""
    points = list(product(ALGORITHMS, LEARNING_RATES, TARGET_PERIODS))
    panels, compared, tables, small = [], {}, [], Legend(size=SMALL)
    for begin, grid in grouped(units, WHEN_UPDATES_BEGIN, points, settings).items():
        best = {name: _best(grid, name) for name in ALGORITHMS}
        at, returns = with_equal_compute(grid)
        tuned = {
            f"{name}: rate {rate:g}, period {period:,}": grid[name, rate, period]
            for name, (rate, period) in best.items()
        }
        panels += curves_panels({f"best setting of each, updates {begin}": tuned}, small)
        title, cost = f"the paper's settings, updates {begin}", "updates + climbing steps"
        by_cost = {name: (at, one) for name, one in returns.items()}
        panels.append(curves_panel(title, by_cost, cost, small))
        compared[begin] = _comparisons(grid, best, returns)
        tables.append(_table(grid, best, begin))
    title = "R: MountainCar, 10 updates: with equal tuning, and with equal compute"
    chart = Chart(panels, title, columns=2, share_y=True)
    claims = comparisons.under_all(comparisons.judge_each(compared, judge))
    return Findings(chart, claims, tables[0], [HOW, comparisons.RULE], tables[1:])


def _comparisons(
    grid: Grid, best: dict[str, tuple[float, int]], returns: dict[str, np.ndarray]
) -> list[Comparison]:
    """Dyna-Frequency and its rivals, with the best setting of each and with equal compute."""
    paper = "above 0 (own check)"
    held_out = {name: _area_of_half(grid[name, *best[name]], odd=True) for name in ALGORITHMS}
    means = {name: of.mean(axis=1) for name, of in returns.items()}
    tuned = f"{FREQUENCY} − {{}}, best setting of each, area over the held-out seeds"
    equal = f"{FREQUENCY} − {{}}, mean return with equal compute"
    return [
        Comparison(statement, what.format(other), paper, of[FREQUENCY], of[other])
        for what, of in ((tuned, held_out), (equal, means))
        for other in RIVALS
        for statement in [TUNED if what == tuned else EQUAL_COMPUTE[other]]
    ]


def _table(grid: Grid, best: dict[str, tuple[float, int]], begin: str) -> list[list[str]]:
    """The mean areas; the best point of each algorithm is marked."""
    rows = [[f"learning rate (updates {begin})", "target period", *ALGORITHMS]]
    for rate, period in dict.fromkeys(key[1:] for key in grid):
        cells = [f"{rate:g}", f"{period:,}"]
        for name in ALGORITHMS:
            stored = grid[name, rate, period]
            mark = " (best)" if (rate, period) == best[name] else ""
            cells.append(f"{area(stored).mean():.0f}{mark}")
        rows.append(cells)
    return rows


def _best(grid: Grid, name: str) -> tuple[float, int]:
    """The point with the greatest mean area of the seeds with even numbers."""

    def mean(point: tuple[float, int]) -> float:
        values = _area_of_half(grid[name, *point], odd=False)
        return float(values.mean()) if len(values) else -math.inf

    return max([(rate, period) for known, rate, period in grid if known == name], key=mean)


def _area_of_half(stored: Stored, odd: bool) -> np.ndarray:
    """The areas of the seeds with odd, or with even, numbers."""
    return area(stored)[study.seeds_of(stored) % 2 == odd]


def with_equal_compute(grid: Grid) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Points of compute, and the returns there with the paper's setting, (seeds, points)."""
    compute = {name: against_compute(grid[name, *PAPER]) for name in ALGORITHMS}
    least = min(costs[:, -1].min() for costs, _ in compute.values())
    at = np.linspace(0, least, POINTS + 1)[1:]
    return at, {
        name: np.stack([np.interp(at, *pair) for pair in zip(*both, strict=True)])
        for name, both in compute.items()
    }


def against_compute(stored: Stored) -> tuple[np.ndarray, np.ndarray]:
    """Updates plus climbing steps before each evaluation, and returns: (seeds, evaluations).

    Trainings that wait for the end of the warm-up make neither before it.
    """
    steps, returns = study.curves(stored)
    config = study.training_of(stored).config
    first = 0 if config["learn_in_warmup"] else config["warmup_steps"]
    each = np.full(returns.shape, float(UPDATES))
    if "climb_iterations" in stored.columns:
        each = each + np.nan_to_num(study.curves(stored, "climb_iterations")[1])
    return np.cumsum(each * np.diff(np.maximum(steps, first), prepend=first), axis=1), returns


PART = Part(
    "R", "own check: ranking with equal tuning or equal compute", "ten hours", units, analyse
)
