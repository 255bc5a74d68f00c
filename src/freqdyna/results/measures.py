"""What a comparison measures: runs and pairs of runs at the steps, or times, that all of them have.

Steps stand for anything that the runs are compared over; `x="seconds"` makes it wall-clock time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.chart import LineStyle
from freqdyna.results.record import CompleteSeeds, Record
from freqdyna.results.statistics import (
    LEVEL,
    improvement_interval,
    probability_of_improvement,
    stratified_interval,
    wider_than_rounding,
)

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
    def of_improvement(first: np.ndarray, second: np.ndarray) -> "Estimate":
        """P(better) of the numbers of two runs, with an interval."""
        if not (len(first) and len(second)):
            return Estimate(float("nan"), None)
        enough = min(len(first), len(second)) > 1
        interval = wider_than_rounding(*improvement_interval(first, second)) if enough else None
        return Estimate(probability_of_improvement(first, second), interval)


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
    """The step of each seed's first evaluation above the threshold after learning began, up to the
    last common step; infinite if there is none. Shape (seeds,)."""
    mean: Estimate
    iqm: Estimate
    """The interquartile mean: the mean of the middle half of the seeds."""
    style: LineStyle


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
    """The same, corrected for the number of all comparisons that are made (Holm)."""

    @property
    def verdict(self) -> Literal["higher", "lower", "undecided"]:
        """Whether the first run is shown to have a higher or a lower mean, at the 5% level."""
        if self.corrected_p >= LEVEL:
            return "undecided"
        return "higher" if self.mean_difference.value > 0 else "lower"


@dataclass(frozen=True)
class EnvironmentComparison:
    """The comparisons of runs in one environment."""

    env: str
    measure: str
    """One of `MEASURES`."""
    x: str
    """What the runs are compared over: "steps" or "seconds"."""
    steps: np.ndarray
    """The common steps, or seconds, shape (points,); `common_steps` has the rule."""
    are_evaluations: bool
    """Whether these are the evaluations of all runs, so that none was replaced by an earlier."""
    threshold: float
    """NaN if every run stays below the untrained policies, so that no threshold makes sense."""
    untrained: float
    """The highest mean return of a run before it learns; NaN if none was evaluated then."""
    runs: list[ComparedRun]
    pairs: list[ComparedPair]

    @property
    def measured_steps(self) -> np.ndarray:
        """The common steps that the measure is computed over."""
        return self.steps[measured(self.steps, self.measure)]

    @property
    def threshold_is_met_untrained(self) -> bool:
        """Whether the steps to the threshold say nothing, because no learning was needed."""
        return self.threshold <= self.untrained


def common_steps(runs: Sequence[Record], labels: Sequence[str], x: str = "steps") -> np.ndarray:
    """The steps, or the seconds, at which runs can be compared, shape (points,), at least one.

    They are the evaluations of the run with the fewest in the range that all runs cover. The range
    begins when every run has an evaluation after the longest warm-up; if none is left then, the
    last one is used.
    """
    positions = [run.along(x) for run in runs]
    begins, ends = [float(at[0]) for at in positions], [float(at[-1]) for at in positions]
    begin, end = max(begins), min(ends)
    if begin > end:
        late, early = labels[int(np.argmax(begins))], labels[int(np.argmin(ends))]
        raise FreqdynaError(
            f"the runs have no common {x}: {early!r} was evaluated up to {end:,.0f}, and {late!r} "
            f"from {begin:,.0f} on"
        )
    warmup = max(run.config.get("warmup_steps", 0) for run in runs)
    used = [at[run.steps > warmup] for run, at in zip(runs, positions, strict=True)]
    begin = min(end, max(float(at[0]) if len(at) else end for at in used))
    inside = [at[(at >= begin) & (at <= end)] for at in positions]
    return min((at for at in inside if len(at)), key=len)


def measured(steps: np.ndarray, measure: str) -> np.ndarray:
    """Which of the common steps a measure is computed over: all, or for "final" the last tenth."""
    if measure == "final":
        return (steps > 0.9 * steps[-1]) | (steps == steps[-1])  # the last step may be 0
    return np.ones(len(steps), bool)


def returns_at(run: Record, steps: np.ndarray, x: str = "steps") -> np.ndarray:
    """The returns at the latest evaluation until each of some steps, shape (seeds, points)."""
    places = np.searchsorted(run.along(x), steps, side="right") - 1
    return run.returns[:, places].astype(np.float64)


def untrained_return(runs: Sequence[Record]) -> float:
    """The highest mean return of a run before it learns; NaN if none was evaluated then."""
    means = [
        run.returns[run.complete_seeds.kept][:, run.before_learning].mean()
        for run in runs
        if run.complete_seeds.kept.any() and run.before_learning.any()
    ]
    return float(max(means, default=float("nan")))


def middle_return(runs: Sequence[Record], steps: np.ndarray, x: str, untrained: float) -> float:
    """The threshold that is used unless one is set.

    It is the middle between the untrained return and the highest mean return of any run; if the
    untrained return is not known, the lowest mean return takes its place. NaN if learning raises no
    mean above the untrained return.
    """
    means = [
        returns_at(run, steps, x)[run.complete_seeds.kept].mean(axis=0)
        for run in runs
        if run.complete_seeds.kept.any()
    ]
    if not means:
        return float("nan")
    every = np.concatenate(means)
    if every.max() <= untrained:
        return float("nan")
    low = every.min() if np.isnan(untrained) else untrained
    return float((low + every.max()) / 2)
