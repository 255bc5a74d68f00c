"""R, of ours: the ranking when every algorithm is tuned alike, and at equal compute."""

from freqdyna.experiments.base import Experiment
from freqdyna.experiments.r import analysis, sweep

EXPERIMENT = Experiment(
    "R",
    "ten hours on 2 cores, ten minutes on an H200 with --processes 16",
    sweep.units,
    analysis.analyse,
)
