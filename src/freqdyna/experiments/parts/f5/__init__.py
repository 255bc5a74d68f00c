"""F5: states of the search-control queue on MazeGridWorld."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.f5 import analysis, units

EXPERIMENT = Experiment(
    "F5", "about three hours on 2 cores, nothing if F4 is stored", units.units, analysis.analyse
)
