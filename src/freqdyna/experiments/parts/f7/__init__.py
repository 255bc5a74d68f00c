"""F7: continuous control with NAF."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.f7 import analysis, units

EXPERIMENT = Experiment("F7", "about two hours on 2 cores", units.units, analysis.analyse)
