"""U: the uncertainty principle beside theorem 1 (the paper's appendix)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.u import analysis, sweep

EXPERIMENT = Experiment("U", "about a minute", sweep.units, analysis.analyse)
