"""F5: states of the search-control queue on MazeGridWorld."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts import maze
from freqdyna.experiments.parts.f5 import analysis

EXPERIMENT = Experiment(
    "F5", "about three days on 2 cores, nothing if F4 is stored", maze.units, analysis.analyse
)
