"""F3: learning curves on MountainCar."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.f3 import analysis, units

EXPERIMENT = Experiment(
    "F3",
    "about four hours on 2 cores, six minutes on an H200 with --processes 16",
    units.units,
    analysis.analyse,
)
