"""How the error over a run depends on the length of the run."""

import itertools
from collections.abc import Sequence

import numpy as np

from reproduction import claims
from reproduction.claims import Claim

PARTS = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
"""Where a run is truncated, as fractions of its length."""
Errors = dict[str, np.ndarray]
"""Test errors of shape (seeds, evaluations) by setting."""


def lengths(updates: np.ndarray) -> list[int]:
    """The number of evaluations of each truncated run, at least one."""
    return [max(1, round(part * len(updates))) for part in PARTS]


def over_run(
    updates: np.ndarray, errors: Errors, names: Sequence[str], other: str
) -> dict[str, list[Claim]]:
    """The claims that the mean error of each truncated run is smaller, paired by seed.

    Intervals are corrected for the number of all of these claims.

    Args:
        updates: Where networks were tested, shape (evaluations,).
        errors: Test errors by setting, shape (seeds, evaluations).
        names: The settings that are compared with the other.
        other: The other setting.

    Returns:
        For each name, a claim for each of `PARTS`.

    """
    rows = len(names) * len(PARTS)
    found = {}
    for name in names:
        difference = errors[name] - errors[other]
        means = [difference[:, :length].mean(axis=1) for length in lengths(updates)]
        what = f"{name} − {other}"
        found[name] = [claims.difference(what, "", mean, rows=rows) for mean in means]
    return found


def length_table(
    updates: np.ndarray, errors: Errors, names: Sequence[str], other: str
) -> list[list[str]]:
    """One row per name: the difference of the mean error of each truncated run, as `over_run`."""
    ends = [f"up to update {updates[length - 1]:,}" for length in lengths(updates)]
    return [
        ["difference of the mean test error", *ends],
        *(
            [found[0].what, *(f"{c.ours} {c.interval}" for c in found)]
            for found in over_run(updates, errors, names, other).values()
        ),
    ]


def length_note(
    updates: np.ndarray, errors: Errors, names: Sequence[str], other: str, rising: str = ""
) -> str:
    """What the table shows, as text.

    `rising` is added if, over the first part, the differences increase in the order of the names.
    """
    found = over_run(updates, errors, names, other)
    ends = [int(updates[length - 1]) for length in lengths(updates)]
    first = ", ".join(f"{claims[0].ours} ({name})" for name, claims in found.items())
    early = (
        f"over the first {ends[0]:,} updates the test error differs from that of {other} by {first}"
    )
    if all(claims[0].verdict == "does not hold" for claims in found.values()):
        early = f"early in training the biased data are worse: {early}"
        means = [float(claims[0].ours) for claims in found.values()]
        if rising and all(a < b for a, b in itertools.pairwise(means)):
            early += f", {rising}"
    turning = any(len({c.verdict for c in claims}) > 1 for claims in found.values())
    depends = "depends" if turning else "does not depend"
    listed = "; ".join(f"{name} {_by_length(claims, ends)}" for name, claims in found.items())
    return (
        f"{early[0].upper()}{early[1:]}. The verdict on the error over the whole run {depends} on "
        "the length of the run, which the paper does not state. By the number of updates, with "
        f"intervals at 95% for the whole table together (Bonferroni): {listed}."
    )


def _by_length(found: Sequence[Claim], ends: Sequence[int]) -> str:
    """The comparison of each truncated run, as text; successive equal verdicts are grouped."""
    parts = []
    for verdict, alike in itertools.groupby(zip(found, ends, strict=True), lambda p: p[0].verdict):
        word = {"holds": "better", "does not hold": "worse"}.get(verdict, verdict)
        parts.append(f"{word} ({', '.join(f'{end:,}' for _, end in alike)})")
    return ", ".join(parts)
