"""What F5 analyses: the trainings of F4 with the true model."""

from freqdyna.experiments.base import Unit
from freqdyna.experiments.parts.maze import settings
from freqdyna.experiments.trainings import training

ALGORITHMS = ("Dyna-Frequency", "Dyna-Value")


def units(quick: bool) -> list[Unit]:
    """The trainings of both algorithms."""
    return [training(quick, **settings(name)) for name in ALGORITHMS]
