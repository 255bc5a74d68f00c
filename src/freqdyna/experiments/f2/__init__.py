"""F2: training data by gradient or Hessian norm (the paper's figure 2)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.f2 import analysis, sweep

EXPERIMENT = Experiment("F2", "about three minutes on 2 cores", sweep.units, analysis.analyse)
