"""D: what the paper's text says about gradients and Hessians of learned values."""

from reproduction.base import Experiment
from reproduction.parts.derivatives import analysis, units

EXPERIMENT = Experiment(
    "D", "about six minutes on 2 cores if B is stored", units.units, analysis.analyse
)
