"""The rule by which a search-control is recommended, as pure functions of areas.

`hypotheses` states the rule in words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from freqdyna.experiments.parts.controls.design import Cell
from freqdyna.results.comparison.statistics import LEVEL, RESAMPLES, holm, permutation_p

CellAreas = Mapping[str, np.ndarray]
"""The areas of all seeds of each search-control in one cell, each of shape (seeds,)."""
Areas = Mapping[Cell, CellAreas]


@dataclass(frozen=True)
class Standing:
    """How a search-control does over cells."""

    good: int
    """The number of cells in which it is the best or not decidedly worse."""
    cells: int
    """The number of cells that have it."""
    mean_rank: float
    """Over the same cells; 1 is the best."""

    @property
    def share(self) -> float:
        """The share of cells in which it is the best or not decidedly worse."""
        return self.good / self.cells


def best_of(cell: CellAreas) -> str:
    """The search-control with the highest mean area."""
    return max(cell, key=lambda control: float(cell[control].mean()))


def decidedly_worse(cell: CellAreas) -> set[str]:
    """The search-controls that are decidedly worse than the best of the cell (Holm within it)."""
    best = best_of(cell)
    others = [control for control in cell if control != best]
    corrected = holm([permutation_p(cell[best], cell[other]) for other in others])
    return {other for other, p in zip(others, corrected, strict=True) if p < LEVEL}


def ranks(cell: CellAreas) -> dict[str, float]:
    """The rank of each search-control by its mean area, 1 for the highest; ties share a rank."""
    means = [float(values.mean()) for values in cell.values()]
    return dict(zip(cell, stats.rankdata(-np.array(means)).tolist(), strict=True))


def mean_ranks(areas: Areas) -> dict[str, float]:
    """The mean rank of each search-control over the cells that have it."""
    by_cell = [ranks(found) for found in areas.values()]
    controls = dict.fromkeys(control for found in by_cell for control in found)
    return {
        control: float(np.mean([found[control] for found in by_cell if control in found]))
        for control in controls
    }


def standings(areas: Areas, worse: Mapping[Cell, set[str]]) -> dict[str, Standing]:
    """How each search-control does over the cells that have it.

    Args:
        areas: The areas in each cell.
        worse: What `decidedly_worse` says about each cell.

    """
    good = [found.keys() - worse[cell] for cell, found in areas.items()]
    return {
        control: Standing(
            sum(control in one for one in good),
            sum(control in found for found in areas.values()),
            mean,
        )
        for control, mean in mean_ranks(areas).items()
    }


def recommended(found: Mapping[str, Standing]) -> str:
    """The search-control with the largest share; of several, the one with the best mean rank."""
    return max(found, key=lambda control: (found[control].share, -found[control].mean_rank))


def best_by_rank(areas: Areas, number: int) -> tuple[str, ...]:
    """The search-controls with the best mean ranks over the cells, the best first."""
    found = mean_ranks(areas)
    return tuple(sorted(found, key=lambda control: found[control])[:number])


def rank_intervals(
    areas: Sequence[CellAreas], level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """The interval of each search-control's mean rank over cells (bootstrap over seeds).

    Args:
        areas: The cells, all of which have the same search-controls.
        level: The level of the intervals.

    Returns:
        The lower and the upper end by search-control.

    """
    generator, controls = np.random.default_rng(0), list(areas[0])
    total = np.zeros((RESAMPLES, len(controls)))
    for cell in areas:
        drawn = [
            values[generator.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1)
            for values in (cell[control] for control in controls)
        ]
        total += stats.rankdata(-np.stack(drawn, axis=1), axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(total / len(areas), [tail, 1 - tail], axis=0)
    return {c: (float(low[i]), float(high[i])) for i, c in enumerate(controls)}


def gain(values: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """The gain of mean areas over others, see `hypotheses.GAIN`.

    Args:
        values: Areas of shape (..., seeds).
        usual: Areas of shape (..., seeds).

    Returns:
        Shape (...).

    """
    before = usual.mean(-1)
    return np.asarray((values.mean(-1) - before) / np.abs(before))
