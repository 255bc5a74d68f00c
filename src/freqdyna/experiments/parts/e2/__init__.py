"""E2: derivatives weight the coefficients of a Fourier series (the paper's example 2)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.e2 import analysis, units

EXPERIMENT = Experiment("E2", "less than a minute", units.units, analysis.analyse)
