"""Learning curves of several runs at common steps, also if they were evaluated at other steps."""

from collections.abc import Sequence

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.record import Record

RULE = (
    "The runs were evaluated at different steps. They are compared over the steps that all of them "
    "cover, at the evaluations of the run that has the fewest; the others count there with their "
    "latest evaluation until then."
)


def common_steps(
    runs: Sequence[Record], labels: Sequence[str], first_step: int | None = None
) -> np.ndarray:
    """The steps at which several runs can be compared.

    They are the steps of the run with the fewest evaluations in the range that all runs cover. The
    range begins when every run has an evaluation after the longest warm-up; if no step is left
    then, the last one is used.

    Args:
        runs: The runs.
        labels: Their names, for messages.
        first_step: Evaluations before this step are ignored; None to ignore those until the end of
            the longest warm-up.

    Returns:
        Shape (points,), at least one.

    """
    begins, ends = [int(run.steps[0]) for run in runs], [int(run.steps[-1]) for run in runs]
    begin, end = max(begins), min(ends)
    if begin > end:
        late, early = labels[int(np.argmax(begins))], labels[int(np.argmin(ends))]
        raise FreqdynaError(
            f"the runs have no common steps: {early!r} was evaluated up to step {end:,}, and "
            f"{late!r} from step {begin:,} on"
        )
    if first_step is None:
        first_step = 1 + max(run.config.get("warmup_steps", 0) for run in runs)
    elif not 0 <= first_step <= end:
        raise FreqdynaError(
            f"first_step is {first_step}; it must be between 0 and {end:,}, the last step of "
            f"{labels[int(np.argmin(ends))]!r}"
        )
    used = (run.steps[run.steps >= first_step] for run in runs)
    begin = min(end, max(int(steps[0]) if len(steps) else end for steps in used))
    inside = [run.steps[(run.steps >= begin) & (run.steps <= end)] for run in runs]
    return min((steps for steps in inside if len(steps)), key=len)


def measured(steps: np.ndarray, measure: str) -> np.ndarray:
    """Which of the common steps a measure is computed over: all, or for "final" the last tenth.

    Args:
        steps: The common steps, shape (points,).
        measure: "mean" or "final".

    Returns:
        Booleans, shape (points,); the last one is always set.

    """
    if measure == "final":
        return (steps > 0.9 * steps[-1]) | (steps == steps[-1])  # the last step may be 0
    return np.ones(len(steps), bool)


def returns_at(run: Record, steps: np.ndarray) -> np.ndarray:
    """The returns at given steps: those of the latest evaluation at or before each of them.

    Args:
        run: The run.
        steps: Steps from the run's first evaluation on, shape (points,).

    Returns:
        Shape (seeds, points).

    """
    return run.returns[:, np.searchsorted(run.steps, steps, side="right") - 1].astype(np.float64)
