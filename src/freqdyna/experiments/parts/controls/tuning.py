"""Tuning: each search-control chooses its own settings with the same budget and on other seeds.

Each search-control that has settings of its own is trained with three variants: its defaults, and
two changes that are written down here with their reason. `freqdyna reproduce C` first trains all
variants on two domains with the true model, 10 seeds from 1000 on, 20,000 steps. The variant that
`chosen` names is then written into CHOSEN, and all other trainings use it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freqdyna.experiments.parts.controls.design import Cell, settings

Own = dict[str, Any]
"""Settings of a search-control that differ from its defaults."""


@dataclass(frozen=True)
class Tuned:
    """The variants of a search-control; the defaults are the first."""

    changes: tuple[Own, Own]
    reason: str

    @property
    def variants(self) -> tuple[Own, ...]:
        """All three."""
        return {}, *self.changes


PROJECT = {"climb_boundary": "project"}
_WHY_PROJECT = (
    "a climb that leaves the state space is restarted or projected, which the paper leaves open "
    "and which mattered most in a first look"
)
_CLIMB = Tuned(
    (PROJECT, {"climb_step_size": 0.1}),
    f"{_WHY_PROJECT}; 0.1 is the published code's step size for Dyna-Value, ten times the paper's",
)
_CANDIDATES = Tuned(
    ({"search_candidates": 50}, {"search_candidates": 800}),
    "few candidates are nearly a uniform sample, many are nearly those of greatest error",
)
TUNED: dict[str, Tuned] = {
    "value": _CLIMB,
    "frequency": _CLIMB,
    "td-error": _CANDIDATES,
    "td-climb": Tuned(
        (PROJECT, {"climb_step_size": 0.1}),
        f"{_WHY_PROJECT}; a move is √α times the spread of the visited states, so that ten moves "
        "reach as far as the spread with α = 0.1",
    ),
    "prioritized-sweeping": Tuned(
        _CANDIDATES.changes, "the number of stored pairs that are scored per step, and of its queue"
    ),
    "parallel-frequency": Tuned(
        (PROJECT, {"climb_iterations": 30}),
        f"{_WHY_PROJECT}; ten moves may not reach the top of g, thirty cost three times as much",
    ),
}
"""The search-controls with settings of their own; `uniform` and `replay` have none but m."""
CELLS = (Cell("MountainCar-v0"), Cell("GridWorld"))
SIZE: dict[str, Any] = {"seeds": 10, "first_seed": 1000, "steps": 20_000}
RULE = (
    "the variant with the greatest mean over both domains of its effect size, the difference of "
    "its mean area from that of the defaults divided by the standard deviation over seeds "
    "(pooled); the defaults have 0 and are kept in a tie; a variant with a seed that diverged is "
    "not chosen"
)
CHOSEN: dict[str, Own] = {
    "value": {"climb_step_size": 0.1},
    "frequency": PROJECT,
    "td-climb": {"climb_step_size": 0.1},
    "parallel-frequency": {"climb_iterations": 30},
}
"""What `chosen` gives for the stored trainings; the other search-controls keep their defaults. A
test compares it with what is stored."""

Areas = Mapping[tuple[Cell, int], np.ndarray]
"""The areas of all seeds by cell and variant, each of shape (seeds,)."""


def variant_settings(control: str, cell: Cell, variant: int) -> dict[str, Any]:
    """The settings of a training for tuning, without its size but with its first seed."""
    own = TUNED[control].variants[variant]
    return settings(control, cell, own) | {"first_seed": SIZE["first_seed"]}


def effect_size(values: np.ndarray, usual: np.ndarray) -> float:
    """The difference of means in pooled standard deviations; 0 if both are the same.

    Args:
        values: The areas of the seeds with a variant, shape (seeds,).
        usual: Those with the defaults, shape (seeds,).

    """
    difference = float(values.mean() - usual.mean())
    deviation = math.sqrt((values.var(ddof=1) + usual.var(ddof=1)) / 2)
    if not difference:
        return 0.0
    return difference / deviation if deviation else math.copysign(math.inf, difference)


def effects(areas: Areas, variants: int, seeds: int) -> list[float]:
    """The mean effect size of each variant over the domains, by RULE.

    Args:
        areas: The areas of every variant in every cell of CELLS, without seeds that diverged.
        variants: The number of variants.
        seeds: The number of seeds that were trained.

    """
    found = [0.0]
    for variant in range(1, variants):
        pairs = [(areas[cell, variant], areas[cell, 0]) for cell in CELLS]
        is_stable = all(len(values) == seeds for values, _ in pairs)
        mean = float(np.mean([effect_size(*pair) for pair in pairs])) if is_stable else -math.inf
        found.append(mean)
    return found


def chosen(sizes: Sequence[float]) -> int:
    """The variant with the greatest of these effect sizes, the first if several have it."""
    return int(np.argmax(sizes))
