"""E2: derivatives weight the coefficients of a Fourier series (the paper's example 2)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.e2 import analysis, sweep

EXPERIMENT = Experiment("E2", "under a minute", sweep.units, analysis.analyse)
