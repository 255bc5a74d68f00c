"""F5: where the search-control queue's states lie on MazeGridWorld."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.f5 import analysis, sweep

EXPERIMENT = Experiment(
    "F5", "about three hours on 2 cores, nothing if F4 is there", sweep.units, analysis.analyse
)
