"""F4: learning curves on MazeGridWorld."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.f4 import analysis, sweep

EXPERIMENT = Experiment("F4", "about four hours on 2 cores", sweep.units, analysis.analyse)
