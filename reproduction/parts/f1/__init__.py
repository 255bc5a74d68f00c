"""F1: more training data in the high-frequency region (the paper's figure 1)."""

from reproduction.base import Experiment
from reproduction.parts.f1 import analysis, units

EXPERIMENT = Experiment("F1", "about five minutes on 2 cores", units.units, analysis.analyse)
