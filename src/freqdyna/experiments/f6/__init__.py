"""F6: climbing the gradient norm or the Hessian norm alone."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.f6 import analysis, sweep

EXPERIMENT = Experiment("F6", "about an hour on 2 cores", sweep.units, analysis.analyse)
