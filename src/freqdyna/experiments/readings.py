"""Interpretations of the paper side by side: a claim holds only if it holds under all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from freqdyna.experiments.claims import Claim

T = TypeVar("T")
WHEN_UPDATES_BEGIN: dict[str, dict[str, Any]] = {
    # The paper's algorithm (A.7) updates at every step; its published code waits for 5,000 samples.
    # The preset of the trainings updates from the first step on MountainCar.
    "from step 1": {},
    "after warm-up": {"learn_in_warmup": False},
}
RULE = (
    "Every training was done under both interpretations of when updates begin: from step 1, as in "
    "the paper's algorithm, or after the warm-up, as in its published code. Numbers are given in "
    "this order. A claim holds, or does not hold, only if it does so under both; it is undecided "
    "if it is so under both, and its verdict is 'depends' if the two differ."
)


def judge_under_all(
    groups: Mapping[str, Sequence[T]], judge: Callable[[list[T]], list[Claim]]
) -> list[Claim]:
    """One claim for each comparison, with the numbers and the verdict of all interpretations.

    Args:
        groups: The same comparisons in the same order under each interpretation, by its name.
        judge: From comparisons to claims; it corrects for the number of all of them.

    """
    judged = iter(judge([one for group in groups.values() for one in group]))
    claims = {name: list(islice(judged, len(group))) for name, group in groups.items()}
    rows = zip(*claims.values(), strict=True)
    return [_combined(dict(zip(claims, row, strict=True))) for row in rows]


def _combined(row: dict[str, Claim]) -> Claim:
    first = next(iter(row.values()))
    if len(row) == 1:
        return first
    agree = len({claim.verdict for claim in row.values()}) == 1
    decided = [] if agree else [f"{name}: {claim.verdict}" for name, claim in row.items()]
    return replace(
        first,
        ours=" | ".join([*(claim.ours for claim in row.values()), *decided]),
        interval=" | ".join(claim.interval for claim in row.values()),
        verdict=first.verdict if agree else "depends",
        by_reading={name: claim.verdict for name, claim in row.items()},
    )
