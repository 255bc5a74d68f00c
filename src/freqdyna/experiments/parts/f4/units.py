"""What F4, F5 and F8 train: three algorithms on MazeGridWorld."""

from freqdyna.experiments.base import Stored, Unit
from freqdyna.experiments.trainings import pick, training

ALGORITHMS: dict[str, dict[str, str]] = {
    "Dyna-Value": {"algorithm": "dyna-value"},
    "Dyna-Frequency": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, learned model": {"algorithm": "dyna-frequency", "model": "learned"},
}


def settings(name: str) -> dict[str, str]:
    """One curve of the figure."""
    return {"env": "MazeGridWorld"} | ALGORITHMS[name]


def units(quick: bool) -> list[Unit]:
    """All curves, the longest first."""
    return [training(quick, **settings(name)) for name in reversed(ALGORITHMS)]


def by_name(units: dict[str, Stored]) -> dict[str, Stored]:
    """The stored training of each algorithm."""
    found = {name: pick(units, **settings(name)) for name in ALGORITHMS}
    return {name: stored for name, stored in found.items() if stored is not None}
