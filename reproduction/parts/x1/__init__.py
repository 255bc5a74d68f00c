"""X1: climbing V + g and V · g, which did not work well in the paper."""

from reproduction.base import Experiment
from reproduction.parts.x1 import analysis, units

EXPERIMENT = Experiment("X1", "half an hour on 2 cores", units.units, analysis.analyse)
