"""B, one of our own checks: whether g ranks regions of learned values by their local bandwidth."""

from reproduction.base import Experiment
from reproduction.parts.bandwidth import analysis, units

EXPERIMENT = Experiment("B", "about eight minutes on 2 cores", units.units, analysis.analyse)
