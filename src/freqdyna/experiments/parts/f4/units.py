"""What F4 trains: Dyna-Value and Dyna-Frequency on MazeGridWorld, and the learned model once."""

from freqdyna.experiments.base import Unit
from freqdyna.experiments.parts import maze
from freqdyna.experiments.trainings import training


def units(quick: bool) -> list[Unit]:
    """All curves."""
    learned = training(quick, **maze.settings(maze.DEFAULT, "Dyna-Frequency, learned model"))
    return [*maze.units(quick), learned]
