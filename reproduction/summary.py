"""A table of common statistics of trainings."""

import numpy as np

from freqdyna.results.comparison.statistics import iqm
from reproduction.base import Stored
from reproduction.comparisons import mean_with_interval
from reproduction.stored_trainings import area, final, left_out, steps_to


def summary(trainings: dict[str, Stored], threshold: float) -> list[list[str]]:
    """Area under the curve, final return and steps to a threshold, with 95% intervals.

    Args:
        trainings: Stored trainings by name.
        threshold: The return to reach.

    Returns:
        The rows of the table, the header first.

    """
    header = [
        "training",
        "area: mean",
        "area: IQM",
        "final: mean",
        "final: IQM",
        f"median step of the first evaluation above {threshold:g}",
        "seeds that never reach it",
    ]
    rows = [header]
    for name, stored in trainings.items():
        first = steps_to(stored, threshold)
        middle = float(np.median(first))
        seeds = left_out(stored)
        cells = [f"{name}; {seeds}" if seeds else name]
        for values in (area(stored), final(stored)):
            cells += [mean_with_interval(values, statistic=one) for one in (np.mean, iqm)]
        cells.append(f"{middle:,.0f}" if np.isfinite(middle) else "never")
        rows.append([*cells, str(int(np.isinf(first).sum()))])
    return rows
