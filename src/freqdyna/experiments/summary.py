"""A table of common statistics of trainings."""

import numpy as np

from freqdyna.experiments.base import Stored
from freqdyna.experiments.comparisons import interval, iqm
from freqdyna.experiments.trainings import area, final, steps_to


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
        cells = [name]
        for values in (area(stored), final(stored)):
            for statistic in (lambda v: v.mean(-1), iqm):
                low, high = interval(statistic, values)
                cells.append(f"{float(statistic(values)):.0f} [{low:.0f}, {high:.0f}]")
        cells.append(f"{middle:,.0f}" if np.isfinite(middle) else "never")
        rows.append([*cells, str(int(np.isinf(first).sum()))])
    return rows
