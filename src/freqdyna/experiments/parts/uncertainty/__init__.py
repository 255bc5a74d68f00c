"""U: the uncertainty principle that complements theorem 1 (the paper's appendix)."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.uncertainty import analysis, units

EXPERIMENT = Experiment("U", "about a minute", units.units, analysis.analyse)
