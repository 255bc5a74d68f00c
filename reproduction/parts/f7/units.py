"""What F7 trains: NAF and its two Dyna variants on two MuJoCo tasks."""

from typing import Any

from reproduction.base import Stored, Unit
from reproduction.stored_trainings import pick
from reproduction.trainings import training

ENVIRONMENTS = ("Hopper-v5", "Walker2d-v5")
"""The current versions; the paper uses Hopper-v2 and Walker2d-v2."""
ALGORITHMS = {
    "NAF": "naf",
    "DynaNAF-Value": "dyna-naf-value",
    "DynaNAF-Frequency": "dyna-naf-frequency",
}
SEEDS, STEPS = 10, 50_000
"""The paper's number of seeds; as many steps as we could afford (the paper states no number)."""


def settings(env: str, name: str) -> dict[str, Any]:
    """One curve of the figure: 5 planning updates, as in the paper."""
    return {"env": env, "algorithm": ALGORITHMS[name], "planning_steps": 5}


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has those of one task."""
    return [
        training(quick, seeds=SEEDS, steps=STEPS, **settings(env, name))
        for env in (ENVIRONMENTS[:1] if quick else ENVIRONMENTS)
        for name in ALGORITHMS
    ]


def by_name(units: dict[str, Stored]) -> dict[tuple[str, str], Stored]:
    """The stored training of each task and algorithm."""
    keys = [(env, name) for env in ENVIRONMENTS for name in ALGORITHMS]
    found = {key: pick(units, **settings(*key)) for key in keys}
    return {key: stored for key, stored in found.items() if stored is not None}
