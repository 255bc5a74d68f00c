"""A1: tabular Dyna, on the maze of Sutton and Barto."""

from reproduction.base import Experiment
from reproduction.parts.a1 import analysis, units

EXPERIMENT = Experiment("A1", "about a minute on 2 cores", units.units, analysis.analyse)
