"""E2: derivatives weight the coefficients of a Fourier series (the paper's example 2)."""

from reproduction.base import Experiment
from reproduction.parts.e2 import analysis, units

EXPERIMENT = Experiment("E2", "less than a minute", units.units, analysis.analyse)
