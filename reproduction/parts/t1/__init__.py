"""T1: gradient and Hessian energy by the local frequency distribution (the paper's theorem 1)."""

from reproduction.base import Experiment
from reproduction.parts.t1 import analysis, units

EXPERIMENT = Experiment("T1", "a minute or two on 2 cores", units.units, analysis.analyse)
