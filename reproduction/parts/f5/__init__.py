"""F5: states of the search-control queue on MazeGridWorld."""

from reproduction.base import Experiment
from reproduction.parts import maze
from reproduction.parts.f5 import analysis

EXPERIMENT = Experiment(
    "F5", "about three days on 2 cores, nothing if F4 is stored", maze.units, analysis.analyse
)
