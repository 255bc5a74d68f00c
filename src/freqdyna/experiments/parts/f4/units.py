"""What F4 trains: three algorithms on MazeGridWorld."""

from freqdyna.experiments.base import Unit
from freqdyna.experiments.parts.maze import ALGORITHMS, settings
from freqdyna.experiments.trainings import training


def units(quick: bool) -> list[Unit]:
    """All curves, the longest first."""
    return [training(quick, **settings(name)) for name in reversed(ALGORITHMS)]
