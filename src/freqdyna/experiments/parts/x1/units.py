"""What X1 trains: Dyna-Frequency, and climbs of V + g and V·g, on MountainCar."""

from freqdyna.experiments.base import Stored, Unit
from freqdyna.experiments.trainings import pick, training

ALGORITHMS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-V+g": "dyna-value-plus-frequency",
    "Dyna-V·g": "dyna-value-times-frequency",
}


def settings(name: str) -> dict[str, object]:
    """One curve; that of Dyna-Frequency is a cell of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "reward_noise": 0.0}
    return cell | {"algorithm": ALGORITHMS[name]}


def units(quick: bool) -> list[Unit]:
    """All curves."""
    return [training(quick, **settings(name)) for name in ALGORITHMS]


def by_name(units: dict[str, Stored]) -> dict[str, Stored]:
    """The stored training of each algorithm."""
    found = {name: pick(units, **settings(name)) for name in ALGORITHMS}
    return {name: stored for name, stored in found.items() if stored is not None}
