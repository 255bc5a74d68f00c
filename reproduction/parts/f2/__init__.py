"""F2: training data by gradient or Hessian norm (the paper's figure 2)."""

from reproduction.base import Experiment
from reproduction.parts.f2 import analysis, units

EXPERIMENT = Experiment("F2", "about three minutes on 2 cores", units.units, analysis.analyse)
