"""F4: learning curves on MazeGridWorld."""

from reproduction.base import Experiment
from reproduction.parts.f4 import analysis, units

EXPERIMENT = Experiment("F4", "about three days on 2 cores", units.units, analysis.analyse)
