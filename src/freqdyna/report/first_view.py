"""What the explorer shows first: typical seeds, when half of the seeds have learned.

The choice is a rule on the learning curves, so that nobody chooses by how the picture looks.
"""

from collections.abc import Sequence

import numpy as np

RULE = (
    "It opens with the median seed of each agent, at the first snapshot at which half of the seeds "
    "of every agent have learned."
)


def typical_rows(returns: np.ndarray, number: int) -> list[int]:
    """The median seed by mean return, then the quartiles, then the others from the best on.

    Of an even number of seeds, the better of the two in the middle is the median: it is the last
    one of the better half.

    Args:
        returns: Evaluation returns, shape (seeds, evaluations).
        number: The maximum number of seeds.

    Returns:
        Indices of rows.

    """
    ranked = np.argsort(-returns.mean(axis=1), kind="stable").tolist()
    last = len(ranked) - 1
    ranks = dict.fromkeys([last // 2, last // 4, 3 * last // 4, *range(len(ranked))])
    return [ranked[rank] for rank in ranks][:number]


def first_step(curves: Sequence[tuple[np.ndarray, np.ndarray]], steps: Sequence[int]) -> int | None:
    """The first step at which at least half of the seeds of every run have learned.

    A seed has learned if its latest return is above the middle between the lowest and the highest
    return of all runs.

    Args:
        curves: For each run, the evaluated steps, shape (evaluations,), and the evaluation returns,
            shape (seeds, evaluations).
        steps: The steps to choose from, in increasing order.

    Returns:
        The step; None if there is none.

    """
    every = np.concatenate([returns.ravel() for _, returns in curves])
    middle = (every.min() + every.max()) / 2

    def share(evaluated: np.ndarray, returns: np.ndarray, step: int) -> float:
        """The share of the seeds that have learned."""
        before = np.flatnonzero(evaluated <= step)
        return float(np.mean(returns[:, before[-1]] > middle)) if len(before) else 0.0

    return next((s for s in steps if all(share(*curve, s) >= 0.5 for curve in curves)), None)
