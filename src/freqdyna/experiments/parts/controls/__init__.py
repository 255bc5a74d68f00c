"""C, our own study: the search-controls of the field, compared on equal terms."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.controls import analysis, step_times, units

EXPERIMENT = Experiment(
    "C",
    "several hours on an H200 with --processes 16",
    units.units,
    analysis.analyse,
    step_times.UNITS,
)
