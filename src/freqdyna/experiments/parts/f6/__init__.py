"""F6: climbing only the gradient norm or only the Hessian norm."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.f6 import analysis, units

EXPERIMENT = Experiment("F6", "about an hour on 2 cores", units.units, analysis.analyse)
