"""X1: climbing V + g and V · g, which did not work well in the paper."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.x1 import analysis, units

EXPERIMENT = Experiment("X1", "half an hour on 2 cores", units.units, analysis.analyse)
