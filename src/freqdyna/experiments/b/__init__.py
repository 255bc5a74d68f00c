"""B, a check of ours: whether g ranks regions of learned values by their local bandwidth."""

from freqdyna.experiments.b import analysis, sweep
from freqdyna.experiments.base import Experiment

EXPERIMENT = Experiment("B", "about eight minutes on 2 cores", sweep.units, analysis.analyse)
