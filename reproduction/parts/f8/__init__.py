"""F8: states of the queue and of the replay buffer on MazeGridWorld."""

from reproduction.base import Experiment
from reproduction.parts import maze
from reproduction.parts.f8 import analysis

EXPERIMENT = Experiment(
    "F8", "about three days on 2 cores, nothing if F4 is stored", maze.units, analysis.analyse
)
