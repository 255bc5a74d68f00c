"""E1: the squared derivative of f_sin over its two regions (the paper's example 1)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.e1 import analysis, sweep

EXPERIMENT = Experiment("E1", "seconds", sweep.units, analysis.analyse)
