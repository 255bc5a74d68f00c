"""R, one of our own checks: the ranking with equal tuning and with equal compute."""

from reproduction.base import Experiment
from reproduction.parts.equal_budget import analysis, units

EXPERIMENT = Experiment(
    "R",
    "ten hours on 2 cores, ten minutes on an H200 with --processes 16",
    units.units,
    analysis.analyse,
)
