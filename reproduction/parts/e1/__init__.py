"""E1: the squared derivative of f_sin over its two regions (the paper's example 1)."""

from reproduction.base import Experiment
from reproduction.parts.e1 import analysis, units

EXPERIMENT = Experiment("E1", "seconds", units.units, analysis.analyse)
