"""Stages 5 and 6: which defaults of the library would be better, and the rule that chooses them.

The candidates are trained without a search-control (ER) and with the simplest one, `uniform`, as
in stage 1. Stage 6 then trains the recommended search-control with the chosen defaults, which is
what a user gets. All of this was written before these trainings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from freqdyna.experiments.parts.controls.design import DOMAINS, ER, Cell
from freqdyna.experiments.parts.controls.tuning import effect_size
from freqdyna.results.comparison.statistics import LEVEL, holm, permutation_p

PRESENT = "settings of stage 1"
SCALED = {"scale_observations": True}
RATE = {"model_learning_rate": 1e-3}
CANDIDATES: dict[str, dict[str, Any]] = {
    PRESENT: {},
    "scaled observations": SCALED,
    "model learning rate 0.001": RATE,
    "both": SCALED | RATE,
}
"""The candidates by name, with the settings that differ from the settings of stage 1."""


class Place(NamedTuple):
    """A cell of this stage: ER, or a search-control with a model, in a domain."""

    control: str
    cell: Cell

    def __str__(self) -> str:
        """Such as "uniform, GridWorld, learned model"; ER has no model."""
        where = self.cell.domain if self.control == ER else str(self.cell)
        return f"{self.control}, {where}"


CONTROL = "uniform"
PLACES = tuple(
    Place(control, Cell(domain, model))
    for control, model in ((ER, "true"), (CONTROL, "true"), (CONTROL, "learned"))
    for domain in DOMAINS
)
RULE = (
    f"candidates are {', '.join(name for name in CANDIDATES if name != PRESENT)}; over the "
    f"{len(PLACES)} cells (six domains × ER, uniform with the true model, uniform with the learned "
    "model), the effect size of a candidate is the difference of its mean area from that with the "
    "settings of stage 1 divided by the standard deviation over seeds (pooled), and 0 where it "
    "changes nothing; chosen is the candidate with the greatest mean effect size, if this is above "
    "0 and it is decidedly better in more cells than it is decidedly worse (permutation test, Holm "
    "over the cells that it changes), else the next; the settings of stage 1 are kept if there is "
    "no such candidate; a candidate with a seed that diverged is not chosen"
)
NOT_PART = (
    "The warm-up is not part of this stage, because its default was settled before (updates wait "
    "for its end in all environments), nor is the boundary of the state space, which is tuned with "
    "the climbing search-controls."
)
GOAL = (
    "with the chosen defaults, uniform with the learned model is decidedly worse than ER with the "
    "same defaults in no domain, Holm over the six"
)
CHOSEN: tuple[str, str] | None = ("td-error", "scaled observations")
"""The recommended search-control and the chosen candidate, which stage 6 trains together. None
until stages 1 and 5 are stored; a test compares it with what is."""
GOAL_OF_BOTH = (
    "with the chosen defaults, the recommended search-control is decidedly worse than ER with the "
    "same defaults in no domain, neither with the true nor with the learned model, Holm over the "
    "twelve cells"
)


def changes(candidate: str, place: Place) -> dict[str, Any]:
    """The settings of a candidate that make a difference in a cell; empty if none does."""
    present = DOMAINS[place.cell.domain]
    learns_model = place.control != ER and place.cell.model != "true"
    return {
        name: value
        for name, value in CANDIDATES[candidate].items()
        if present.get(name) != value and (learns_model or name not in RATE)
    }


def trainings() -> list[tuple[Place, dict[str, Any]]]:
    """The cells and changes of all trainings of this stage, the longest first."""
    longest_first = sorted(PLACES, key=lambda place: place.cell.domain != "MazeGridWorld")
    found: list[tuple[Place, dict[str, Any]]] = []
    for place in longest_first:
        for candidate in CANDIDATES:
            own = changes(candidate, place)
            if own and (place, own) not in found:
                found.append((place, own))
    return found


def confirming_trainings() -> list[tuple[Place, dict[str, Any]]]:
    """The cells and changes of the trainings of stage 6 that no other stage has."""
    if CHOSEN is None:
        return []
    control, candidate = CHOSEN
    places = [Place(control, place.cell) for place in PLACES if place.control == CONTROL]
    wanted = [(place, own) for place in places if (own := changes(candidate, place))]
    return [one for one in wanted if one not in trainings()]


@dataclass(frozen=True)
class Effect:
    """What a candidate changes."""

    sizes: Mapping[Place, float]
    """The effect sizes in the cells that it changes."""
    better: frozenset[Place]
    """The cells in which it is decidedly better than the settings of stage 1."""
    worse: frozenset[Place]
    """The cells in which it is decidedly worse."""
    is_stable: bool
    """Whether no seed diverged."""

    @property
    def mean_size(self) -> float:
        """The mean effect size over all cells."""
        return sum(self.sizes.values()) / len(PLACES)

    @property
    def qualifies(self) -> bool:
        """Whether RULE permits to choose it."""
        return self.is_stable and self.mean_size > 0 and len(self.better) > len(self.worse)


def effect(pairs: Mapping[Place, tuple[np.ndarray, np.ndarray]], is_stable: bool) -> Effect:
    """Compare a candidate with the settings of stage 1.

    Args:
        pairs: The areas of the seeds with the candidate and with the settings of stage 1, each of
            shape (seeds,), in every cell that the candidate changes.
        is_stable: Whether no seed of the candidate diverged.

    """
    corrected = holm([permutation_p(*pair) for pair in pairs.values()])
    sizes = {place: effect_size(*pair) for place, pair in pairs.items()}
    decided = {place for place, p in zip(pairs, corrected, strict=True) if p < LEVEL}
    better = frozenset(place for place in decided if sizes[place] > 0)
    return Effect(sizes, better, frozenset(decided - better), is_stable)


def chosen(effects: Mapping[str, Effect]) -> str:
    """The candidate that RULE chooses, or PRESENT.

    Args:
        effects: What `effect` gives for each candidate other than PRESENT.

    """
    qualified = {name: one.mean_size for name, one in effects.items() if one.qualifies}
    return max(qualified, key=lambda name: qualified[name], default=PRESENT)
