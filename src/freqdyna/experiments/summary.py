"""A table of the usual statistics of trainings."""

import numpy as np

from freqdyna.experiments.base import Stored
from freqdyna.experiments.comparisons import interval, iqm
from freqdyna.experiments.trainings import area, final, steps_to


def summary(trainings: dict[str, Stored], threshold: float) -> list[list[str]]:
    """Area under the curve, final return and steps to a threshold, with 95% intervals."""
    header = [
        "training",
        "area: mean",
        "area: IQM",
        "final: mean",
        "final: IQM",
        f"median step of a first evaluation above {threshold:g}",
        "seeds that never are",
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
