"""F3: learning curves on MountainCar."""

from reproduction.base import Experiment
from reproduction.parts.f3 import analysis, units

EXPERIMENT = Experiment(
    "F3",
    "about four hours on 2 cores, six minutes on an H200 with --processes 16",
    units.units,
    analysis.analyse,
)
