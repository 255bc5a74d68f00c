"""U: the uncertainty principle that complements theorem 1 (the paper's appendix)."""

from reproduction.base import Experiment
from reproduction.parts.uncertainty import analysis, units

EXPERIMENT = Experiment("U", "about a minute", units.units, analysis.analyse)
