"""Warnings about seeds that an evaluation shows for the first time."""

import numpy as np

from freqdyna.results.complete_seeds import DIVERGED_AT, MODEL_NON_FINITE

_COUNTS = {
    "search_outside": "the search-control proposed {} states outside the state space, which are "
    "used like others",
    "search_non_finite": "the search-control proposed {} states that are not finite, which are not "
    "stored",
    MODEL_NON_FINITE: "the model returned {} transitions that are not finite, which are not "
    "learned from",
}
"""What is reported for each seed when a metric of it is above zero for the first time."""


def new_warnings(seeds: np.ndarray, curves: list[dict[str, np.ndarray]]) -> list[str]:
    """What the last evaluation shows for the first time; each seed is reported once for each cause.

    Args:
        seeds: The seeds, shape (seeds,).
        curves: The metrics of each evaluation so far, each of shape (seeds,); not empty. Those of a
            resumed run include the ones before it was interrupted.

    """
    *earlier, now = curves
    found = []
    known = earlier[-1][DIVERGED_AT] >= 0 if earlier else np.zeros(len(seeds), bool)
    for row in np.flatnonzero((now[DIVERGED_AT] >= 0) & ~known):
        found.append(
            f"seed {seeds[row]} diverged at step {int(now[DIVERGED_AT][row]):,}: its loss or "
            "its parameters are not finite; its metrics are missing from now on, and it is "
            "left out of all statistics"
        )
    for name, text in _COUNTS.items():
        new = now.get(name, np.zeros(len(seeds))) > 0
        if new.any() and earlier:
            new &= ~np.any([row.get(name, np.zeros(len(seeds))) > 0 for row in earlier], axis=0)
        if new.any():
            listed = ", ".join(map(str, seeds[new]))
            found.append(
                f"{text.format(f'{int(now[name][new].sum()):,}')} "
                f"(seed{'s' if np.count_nonzero(new) > 1 else ''} {listed}); the metric "
                f"{name} counts them at each evaluation"
            )
    return found
