"""F7: continuous control with NAF."""

from reproduction.base import Experiment
from reproduction.parts.f7 import analysis, units

EXPERIMENT = Experiment("F7", "about two hours on 2 cores", units.units, analysis.analyse)
