"""S, one of our own checks: which open choice of the paper affects which of its claims."""

from reproduction.base import Experiment
from reproduction.parts.open_choices import analysis, units

EXPERIMENT = Experiment(
    "S",
    "a day on 2 cores, half an hour on an H200 with --processes 16",
    units.units,
    analysis.analyse,
)
