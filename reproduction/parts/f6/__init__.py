"""F6: climbing only the gradient norm or only the Hessian norm."""

from reproduction.base import Experiment
from reproduction.parts.f6 import analysis, units

EXPERIMENT = Experiment("F6", "about an hour on 2 cores", units.units, analysis.analyse)
