"""What F4 trains: Dyna-Value and Dyna-Frequency on MazeGridWorld, and the learned model once."""

from reproduction.base import Unit
from reproduction.parts import maze
from reproduction.trainings import training


def units(quick: bool) -> list[Unit]:
    """All curves."""
    learned = training(quick, **maze.settings(maze.DEFAULT, "Dyna-Frequency, learned model"))
    return [*maze.units(quick), learned]
