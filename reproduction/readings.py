"""Interpretations of the paper side by side: a claim holds only if it holds under all of them."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from reproduction.base import Stored
from reproduction.claims import Claim, Verdict
from reproduction.stored_trainings import pick

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
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
WALLS: dict[str, dict[str, Any]] = {
    # The paper's state space is [0, 1]², so that walls belong to it; its published code climbs
    # through them and refuses moves by their end point. Version 0.1 kept climbs out of walls.
    "walls outside": {},
    "walls inside": {"walls_in_state_space": True, "collision": "end_point"},
}
EDGES: dict[str, dict[str, Any]] = {
    # "Natural projected gradient ascent" (A.6), and "we omitted the projection step" (A.7).
    "restart": {},
    "clip": {"climb_boundary": "project"},
}
SIGMAS: dict[str, dict[str, Any]] = {"Σ": {}, "I": {"climb_preconditioner": "identity"}}
IN_THE_MAZE: dict[str, dict[str, Any]] = {
    f"{walls}, {edge}, {sigma}": WALLS[walls] | EDGES[edge] | SIGMAS[sigma]
    for walls in WALLS
    for edge in EDGES
    for sigma in SIGMAS
}
SEVERAL = 2
"""If there are more interpretations, a claim only counts their verdicts."""


def rule_in_the_maze(found: Collection[str]) -> str:
    """How claims are decided, given those of `IN_THE_MAZE` whose trainings are stored."""
    number = f"{len(found)} of the " if len(found) < len(IN_THE_MAZE) else ""
    listed = f" Stored so far: {'; '.join(found)}." if number else ""
    return (
        f"The trainings were done under {number}eight interpretations: walls outside or inside the "
        "state space (inside, moves are also refused by where they end, as in the published code, "
        "rather than by their path), climbs that leave it restarted or clipped to it, and the "
        f"covariance Σ or the identity I.{listed} A claim holds, or does not hold, only if it does "
        "so under all of them; otherwise its verdict is 'depends' if it is decided under some, and "
        "'undecided' if under none. The last table gives the verdict of each."
    )


def by_reading(
    units: dict[str, Stored],
    readings: Iterable[str],
    keys: Collection[K],
    settings: Callable[[str, K], dict[str, Any]],
    longer: bool = False,
) -> dict[str, dict[K, Stored]]:
    """The stored trainings by interpretation and key; interpretations without any are omitted.

    Args:
        units: The stored units by name.
        readings: The names of the interpretations.
        keys: The names of the trainings under each interpretation.
        settings: From an interpretation and a key to the settings of the training.
        longer: Whether to pick trainings of more steps than usual, see `stored_trainings.pick`.

    """
    found = {
        reading: {
            key: stored
            for key in keys
            if (stored := pick(units, longer, **settings(reading, key))) is not None
        }
        for reading in readings
    }
    return {reading: trainings for reading, trainings in found.items() if trainings}


def judge_each(
    groups: Mapping[str, Sequence[T]], judge: Callable[[list[T]], list[Claim]]
) -> dict[str, list[Claim]]:
    """The claims of the comparisons under each interpretation.

    Args:
        groups: The same comparisons in the same order under each interpretation, by its name.
        judge: From comparisons to claims; it corrects for the number of all of them.

    """
    judged = iter(judge([one for group in groups.values() for one in group]))
    return {name: list(islice(judged, len(group))) for name, group in groups.items()}


def judge_under_all(
    groups: Mapping[str, Sequence[T]], judge: Callable[[list[T]], list[Claim]]
) -> list[Claim]:
    """One claim for each comparison, with the verdict of all interpretations; see `judge_each`."""
    return under_all(judge_each(groups, judge))


def under_all(claims: Mapping[str, Sequence[Claim]]) -> list[Claim]:
    """One claim for each row, with the verdict of all interpretations.

    Args:
        claims: The same claims in the same order under each interpretation, by its name.

    """
    rows = zip(*claims.values(), strict=True)
    return [_combined(dict(zip(claims, row, strict=True))) for row in rows]


def table_of(claims: Mapping[str, Sequence[Claim]]) -> list[list[str]]:
    """What `under_all` combines: one row per interpretation, the header first."""
    header = ["interpretation", *(claim.what for claim in next(iter(claims.values())))]
    return [
        header,
        *(
            [name, *(f"{one.ours} {one.interval}: {one.verdict}" for one in row)]
            for name, row in claims.items()
        ),
    ]


def _combined(row: dict[str, Claim]) -> Claim:
    first = next(iter(row.values()))
    if len(row) == 1:
        return first
    by_reading = {name: claim.verdict for name, claim in row.items()}
    counts = Counter(by_reading.values())
    verdict: Verdict = first.verdict if len(counts) == 1 else "depends"
    combined = replace(first, verdict=verdict, by_reading=by_reading)
    if len(row) > SEVERAL:
        listed = ", ".join(f"{number} × {one}" for one, number in counts.most_common())
        return replace(combined, ours=f"{len(row)} interpretations: {listed}", interval="")
    decided = [f"{name}: {one}" for name, one in by_reading.items()] if len(counts) > 1 else []
    return replace(
        combined,
        ours=" | ".join([*(claim.ours for claim in row.values()), *decided]),
        interval=" | ".join(claim.interval for claim in row.values()),
    )
