"""What a comparison of runs finds: numbers of runs and of pairs in each environment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freqdyna.results.chart import LineStyle
from freqdyna.results.comparison.common_steps import measured
from freqdyna.results.comparison.statistics import (
    LEVEL,
    improvement_interval,
    probability_of_improvement,
    stratified_interval,
)
from freqdyna.results.record import CompleteSeeds
from freqdyna.results.statistics import wider_than_rounding

MEASURES = {"mean": "mean return", "final": "mean return in the last tenth"}
"""The number that each seed is compared by, by its name."""


@dataclass(frozen=True)
class Estimate:
    """A statistic over seeds with its 95% bootstrap interval."""

    value: float
    """NaN if no seed is left."""
    interval: tuple[float, float] | None
    """None if a run has fewer than two seeds, or if all resamples of the seeds are alike."""

    @staticmethod
    def of(statistic: Callable[..., np.ndarray], *groups: np.ndarray) -> "Estimate":
        """A statistic of one number per seed, with an interval; see `stratified_interval`."""
        if not all(map(len, groups)):
            return Estimate(float("nan"), None)
        enough = min(map(len, groups)) > 1
        interval = wider_than_rounding(*stratified_interval(statistic, *groups)) if enough else None
        return Estimate(float(statistic(*groups)), interval)

    @staticmethod
    def of_improvement(*pairs: tuple[np.ndarray, np.ndarray]) -> "Estimate":
        """P(better), averaged over pairs of the numbers of two runs, with an interval."""
        if not all(len(seeds) for pair in pairs for seeds in pair):
            return Estimate(float("nan"), None)
        value = np.mean([probability_of_improvement(*pair) for pair in pairs])
        enough = min(len(seeds) for pair in pairs for seeds in pair) > 1
        interval = wider_than_rounding(*improvement_interval(*pairs)) if enough else None
        return Estimate(float(value), interval)


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    label: str
    seeds: CompleteSeeds
    returns: np.ndarray
    """Returns at the common steps, of the seeds that are kept, shape (seeds, points)."""
    scores: np.ndarray
    """The measure of each seed, shape (seeds,)."""
    steps_to_threshold: np.ndarray
    """The step of each seed's first evaluation above the threshold, up to the last common step;
    infinite if there is none. Shape (seeds,)."""
    mean: Estimate
    iqm: Estimate
    """The interquartile mean: the mean of the middle half of the seeds."""
    style: LineStyle

    @property
    def lacks_interval(self) -> bool:
        """Whether resampling two or more seeds cannot show how much they vary."""
        return len(self.scores) > 1 and None in (self.mean.interval, self.iqm.interval)


@dataclass(frozen=True)
class ComparedPair:
    """The comparison of one run with another, which is subtracted from it."""

    first: ComparedRun
    second: ComparedRun
    mean_difference: Estimate
    iqm_difference: Estimate
    probability_of_improvement: Estimate
    """P(better): the probability that a seed of the first run is above one of the second."""
    p: float
    """Of a two-sided permutation test of the difference of means."""
    corrected_p: float
    """The same, corrected for the number of all comparisons (Holm)."""

    @property
    def verdict(self) -> Literal["higher", "lower", "undecided"]:
        """Whether the first run is shown to have a higher or a lower mean, at the 5% level."""
        if self.corrected_p >= LEVEL:
            return "undecided"
        return "higher" if self.mean_difference.value > 0 else "lower"

    @property
    def lacks_interval(self) -> bool:
        """Whether resampling two or more seeds of both runs cannot show how much they vary."""
        enough = min(len(self.first.scores), len(self.second.scores)) > 1
        estimates = self.mean_difference, self.iqm_difference, self.probability_of_improvement
        return enough and any(estimate.interval is None for estimate in estimates)


@dataclass(frozen=True)
class AveragedPair:
    """The comparison of runs with the same two names in several environments."""

    first: str
    second: str
    environments: list[str]
    probability_of_improvement: Estimate
    """Averaged over the environments, each of which counts the same."""


@dataclass(frozen=True)
class EnvironmentComparison:
    """The comparisons of all runs in one environment."""

    env: str
    measure: str
    """One of `MEASURES`."""
    steps: np.ndarray
    """The common steps, shape (points,); `common_steps` has the rule."""
    are_own_steps: bool
    """Whether these are the evaluations of all runs, so that none was replaced by an earlier."""
    threshold: float
    runs: list[ComparedRun]
    pairs: list[ComparedPair]

    @property
    def measured_steps(self) -> np.ndarray:
        """The common steps that the measure is computed over."""
        return self.steps[measured(self.steps, self.measure)]
