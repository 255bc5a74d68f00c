"""The speed of a regression: the number of updates until its test error is below a threshold.

The choice of threshold is arbitrary and the verdict may depend on it, so there are several.
"""

import numpy as np

from freqdyna.results.statistics import bootstrap_interval
from reproduction import claims
from reproduction.claims import Claim

PLATEAU = 0.5
"""Test error of a network that has only learned the low-frequency half: √(½ · ½)."""
THRESHOLDS = (0.48, 0.45, 0.42)
"""Below the plateau: less or more of the high-frequency half has been learned."""
LISTED = ", ".join(f"{threshold:g}" for threshold in THRESHOLDS)


def updates_to(updates: np.ndarray, errors: np.ndarray, threshold: float) -> np.ndarray:
    """The update of each seed's first error below the threshold.

    Args:
        updates: Where networks were tested, shape (evaluations,).
        errors: Test errors, shape (seeds, evaluations).
        threshold: The threshold.

    Returns:
        Shape (seeds,); infinite for a seed that never reaches the threshold.

    """
    below = errors < threshold
    return np.where(below.any(axis=1), updates[below.argmax(axis=1)], np.inf)


def within_run(updates: np.ndarray, errors: np.ndarray, threshold: float) -> np.ndarray:
    """Like `updates_to`, but the length of the run if the threshold is never reached."""
    return np.minimum(updates_to(updates, errors, threshold), updates[-1])


def speed_claim(
    what: str,
    paper: str,
    updates: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    faster: bool = True,
    rows: int = 1,
) -> Claim:
    """The claim that `one` needs fewer (or more) updates than `other`, paired by seed.

    Args:
        what: What is compared.
        paper: What the paper claims.
        updates: Where networks were tested, shape (evaluations,).
        one: Test errors, shape (seeds, evaluations).
        other: Test errors, shape (seeds, evaluations).
        faster: Whether the claim is that `one` needs fewer updates.
        rows: The number of rows in the figure for which intervals are corrected.

    """
    differences = [
        within_run(updates, one, threshold) - within_run(updates, other, threshold)
        for threshold in THRESHOLDS
    ]
    what = f"{what}, updates until the test error is below {LISTED}"
    return claims.agreeing(what, paper, differences, faster, form="+,.0f", rows=rows)


def speed_table(updates: np.ndarray, errors: dict[str, np.ndarray]) -> list[list[str]]:
    """One row per setting, with 95% intervals of means over seeds."""
    rows = [
        [
            "data",
            *(
                f"mean updates until the error is below {t:g}; seeds that never get there"
                for t in THRESHOLDS
            ),
            "mean error at the end",
        ]
    ]
    for name, curves in errors.items():
        cells = [_reached(updates, curves, threshold) for threshold in THRESHOLDS]
        low, high = map(float, bootstrap_interval(curves[:, -1]))
        rows.append([name, *cells, f"{curves[:, -1].mean():.3f} [{low:.3f}, {high:.3f}]"])
    return rows


def _reached(updates: np.ndarray, curves: np.ndarray, threshold: float) -> str:
    """The mean of `within_run`, its interval, and how many seeds never reach the threshold."""
    counted = within_run(updates, curves, threshold)
    low, high = map(float, bootstrap_interval(counted))
    never = int(np.isinf(updates_to(updates, curves, threshold)).sum())
    return f"{counted.mean():,.0f} [{low:,.0f}, {high:,.0f}], {never} of {len(curves)}"


def speed_note(updates: np.ndarray) -> str:
    """An explanation of the thresholds."""
    return (
        f"A network that has only learned the low-frequency half has a test error of {PLATEAU:g}. "
        f"Speed is measured by the first evaluation below {LISTED}, thresholds that we chose. A "
        f"seed that never reaches a threshold counts with the {updates[-1]:,} updates of the run. "
        "The intervals of single settings are at 95% each, not corrected for their number; nothing "
        "is decided by them."
    )
