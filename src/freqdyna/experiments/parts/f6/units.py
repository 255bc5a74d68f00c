"""What F6 trains: g with only the gradient term, with only the Hessian term, and with both."""

from typing import Any

from freqdyna.experiments.base import Stored, Unit
from freqdyna.experiments.trainings import pick, training

ENVIRONMENTS = ("MountainCar-v0", "GridWorld")
ALGORITHMS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-GradNorm": "dyna-gradnorm",
    "Dyna-HessNorm": "dyna-hessnorm",
}


def settings(env: str, name: str) -> dict[str, Any]:
    """One curve of the figure; Dyna-Frequency on MountainCar is a cell of F3."""
    noise = {"reward_noise": 0.0} if env == "MountainCar-v0" else {}
    return {"env": env, "algorithm": ALGORITHMS[name], "planning_steps": 10} | noise


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has those of one environment."""
    return [
        training(quick, **settings(env, name))
        for env in (ENVIRONMENTS[1:] if quick else ENVIRONMENTS)
        for name in ALGORITHMS
    ]


def by_name(units: dict[str, Stored]) -> dict[tuple[str, str], Stored]:
    """The stored training of each environment and algorithm."""
    keys = [(env, name) for env in ENVIRONMENTS for name in ALGORITHMS]
    found = {key: pick(units, **settings(*key)) for key in keys}
    return {key: stored for key, stored in found.items() if stored is not None}
