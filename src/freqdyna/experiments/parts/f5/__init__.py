"""F5: where the search-control queue's states lie on MazeGridWorld."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.f5 import analysis, units

EXPERIMENT = Experiment(
    "F5", "about three hours on 2 cores, nothing if F4 is there", units.units, analysis.analyse
)
