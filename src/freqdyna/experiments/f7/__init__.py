"""F7: continuous control with NAF."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.f7 import analysis, sweep

EXPERIMENT = Experiment("F7", "about two hours on 2 cores", sweep.units, analysis.analyse)
