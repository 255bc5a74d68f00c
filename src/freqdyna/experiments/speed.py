"""How fast a regression learns: the updates until its test error is below a threshold."""

import numpy as np

from freqdyna.experiments import claims
from freqdyna.experiments.claims import Claim
from freqdyna.results.statistics import bootstrap_interval

PLATEAU = 0.5
"""Test error of a network that knows the low frequency half only: √(½ · ½)."""
THRESHOLD = 0.45
"""Below the plateau: part of the high frequency half is learned."""


def updates_to(updates: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The update of each seed's first error below the threshold; infinite if there is none.

    `updates` has shape (evaluations,), `errors` (seeds, evaluations), the result (seeds,).
    """
    below = errors < THRESHOLD
    return np.where(below.any(axis=1), updates[below.argmax(axis=1)], np.inf)


def within_run(updates: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """As `updates_to`, but the length of the run where the threshold is never reached."""
    return np.minimum(updates_to(updates, errors), updates[-1])


def speed_claim(
    what: str,
    paper: str,
    updates: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    faster: bool = True,
) -> Claim:
    """That `one` needs fewer (or more) updates than `other` to the threshold, seed by seed."""
    difference = within_run(updates, one) - within_run(updates, other)
    what = f"{what}, updates until the test error is below {THRESHOLD:g}"
    return claims.difference(what, paper, difference, faster, form="+,.0f")


def speed_table(updates: np.ndarray, errors: dict[str, np.ndarray]) -> list[list[str]]:
    """A row for each setting, with 95% intervals of means over seeds."""
    header = [
        "data",
        f"mean updates until the error is below {THRESHOLD:g}",
        "median",
        "seeds that never are",
        "mean error at the end",
    ]
    rows = [header]
    for name, curves in errors.items():
        first, counted = updates_to(updates, curves), within_run(updates, curves)
        low, high = map(float, bootstrap_interval(counted))
        middle = float(np.median(first))
        least, most = map(float, bootstrap_interval(curves[:, -1]))
        rows.append(
            [
                name,
                f"{counted.mean():,.0f} [{low:,.0f}, {high:,.0f}]",
                f"{middle:,.0f}" if np.isfinite(middle) else "never",
                f"{np.isinf(first).sum()} of {len(first)}",
                f"{curves[:, -1].mean():.3f} [{least:.3f}, {most:.3f}]",
            ]
        )
    return rows


def speed_note(updates: np.ndarray) -> str:
    """What is to be known of the threshold."""
    return (
        f"A test error of {PLATEAU:g} is that of a network that knows the low frequency half only; "
        f"speed is measured by the first evaluation below {THRESHOLD:g}. A seed that never is "
        f"counts with the {updates[-1]:,} updates of the run, which makes differences smaller than "
        "they are."
    )
