"""E1: the squared derivative of f_sin over its two regions (the paper's example 1)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.e1 import analysis, units

EXPERIMENT = Experiment("E1", "seconds", units.units, analysis.analyse)
