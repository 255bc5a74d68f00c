"""Compare runs in the same environments, by the statistics that are used for the paper."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.chart import LineStyle, run_styles
from freqdyna.results.draw import draw, save_figure
from freqdyna.results.measures import (
    MEASURES,
    ComparedPair,
    ComparedRun,
    EnvironmentComparison,
    Estimate,
    common_steps,
    measured,
    middle_return,
    returns_at,
    untrained_return,
)
from freqdyna.results.plot import comparison_chart
from freqdyna.results.record import Record
from freqdyna.results.statistics import (
    LEVEL,
    first_step_above,
    holm,
    iqm,
    permutation_p,
    smallest_p,
)
from freqdyna.results.tables import as_text, save_table

FEW = 10
"""Fewer seeds than this need a warning."""
OTHER_STEPS = (
    "the runs were evaluated at different points. They are compared over the range that all of "
    "them cover, at the evaluations of the run that has the fewest; the others count there with "
    "their latest evaluation until then."
)
OF_SECONDS = (
    "Seconds are the wall-clock time of all seeds of a run together, on the machine that trained "
    "it, without compiling, evaluating and saving."
)


@dataclass(frozen=True)
class RunComparison:
    """What `freqdyna.compare` returns; `print` shows its tables."""

    environments: list[EnvironmentComparison]
    notes: list[str]
    """What few seeds can and cannot show, and which runs and seeds are not compared."""

    @property
    def pairs(self) -> list[ComparedPair]:
        """The pairs of all environments."""
        return [pair for environment in self.environments for pair in environment.pairs]

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Learning curves, performance profiles and differences as a Matplotlib figure.

        Args:
            path: A file to write it to as well: PNG, PDF or SVG, depending on its ending.

        """
        figure = draw(comparison_chart(self.environments))
        if path is not None:
            save_figure(figure, Path(path))
        return figure

    def save_table(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file: CSV or LaTeX, depending on its ending, .csv or .tex."""
        save_table(self.environments, self.notes, Path(path))

    def __str__(self) -> str:
        return as_text(self.environments, self.notes)


@dataclass(frozen=True)
class Question:
    """What is asked about the runs of every environment; see `freqdyna.compare`."""

    measure: str = "mean"
    x: str = "steps"
    threshold: float | None = None
    baseline: str | None = None
    all_pairs: bool = False

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            allowed = " or ".join(map(repr, MEASURES))
            raise FreqdynaError(f"measure is {self.measure!r}; it must be {allowed}")
        if self.baseline is not None and self.all_pairs:
            raise FreqdynaError(f"baseline is {self.baseline!r}; with all_pairs it must be unset")


def compare_runs(runs: Sequence[Record], labels: Sequence[str], **settings: Any) -> RunComparison:
    """Compare runs with unique names in each environment; the settings are those of `Question`."""
    question = Question(**settings)
    groups: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        groups.setdefault(run.env_name, []).append(i)
    alone = {env: labels[group[0]] for env, group in groups.items() if len(group) == 1}
    if len(alone) == len(groups):
        listed = ", ".join(f"{label!r} on {env}" for env, label in alone.items())
        there = f"there is only {listed}" if listed else "there is no run"
        raise FreqdynaError(
            f"{there}; a comparison needs at least two runs that have "
            "finished in the same environment"
        )
    styles = run_styles([run.config for run in runs], list(labels))
    environments = _corrected(
        [
            _environment(env, [(runs[i], labels[i], styles[i]) for i in group], question)
            for env, group in groups.items()
            if env not in alone
        ]
    )
    notes = [f"{label!r} is the only run on {env}: not compared." for env, label in alone.items()]
    ends = {one.env: one.steps[-1] for one in environments}
    notes += [
        f"{label!r} on {run.env_name} goes on to step {run.steps[-1]:,}: what only some runs have "
        "is not compared."
        for run, label in zip(runs, labels, strict=True)
        if question.x == "steps" and run.steps[-1] > ends.get(run.env_name, np.inf)
    ]
    notes += _limit_notes([run for run in runs if run.env_name not in alone])
    notes += [
        f"{label!r} has returns of training episodes, with exploration, not of evaluations."
        for run, label in zip(runs, labels, strict=True)
        if run.has_training_returns
    ]
    notes += [note for environment in environments for note in _notes(environment)]
    notes += _few_seeds_note([pair for one in environments for pair in one.pairs])
    notes += [OF_SECONDS] if question.x == "seconds" else []
    return RunComparison(environments, notes)


def _environment(
    env: str, runs: list[tuple[Record, str, LineStyle]], question: Question
) -> EnvironmentComparison:
    records, labels = [run for run, _, _ in runs], [label for _, label, _ in runs]
    repeated = next((label for label in labels if labels.count(label) > 1), None)
    if repeated is not None:
        raise FreqdynaError(f"labels has {repeated!r} twice on {env}; runs must have unique names")
    x = question.x
    steps = common_steps(records, labels, x)
    untrained, threshold = untrained_return(records), question.threshold
    if threshold is None:
        threshold = middle_return(records, steps, x, untrained)
    compared = [_compared_run(*run, steps, question, threshold) for run in runs]
    positions = [run.along(x) for run in records]
    inside = [at[(at >= steps[0]) & (at <= steps[-1])] for at in positions]
    return EnvironmentComparison(
        env=env,
        measure=question.measure,
        x=x,
        steps=steps,
        are_evaluations=all(np.array_equal(at, steps) for at in inside),
        threshold=threshold,
        untrained=untrained,
        runs=compared,
        pairs=[_pair(*pair) for pair in _chosen_pairs(env, compared, question)],
    )


def _chosen_pairs(
    env: str, runs: list[ComparedRun], question: Question
) -> list[tuple[ComparedRun, ComparedRun]]:
    """All pairs, or all runs with the baseline, which is the first run unless it is set."""
    if question.all_pairs:
        return [(second, first) for first, second in combinations(runs, 2)]
    name = question.baseline or "1"
    labels = [run.label for run in runs]
    if name not in labels and name.isdecimal() and 1 <= int(name) <= len(labels):
        name = labels[int(name) - 1]
    if name not in labels:
        raise FreqdynaError(
            f"baseline is {name!r}, which is not a run on {env}; choose one of {', '.join(labels)}"
        )
    baseline = runs[labels.index(name)]
    return [(run, baseline) for run in runs if run is not baseline]


def _compared_run(
    run: Record,
    label: str,
    style: LineStyle,
    steps: np.ndarray,
    question: Question,
    threshold: float,
) -> ComparedRun:
    complete, positions = run.complete_seeds, run.along(question.x)
    returns = returns_at(run, steps, question.x)[complete.kept]
    scores = returns[:, measured(steps, question.measure)].mean(axis=1)
    learned = (positions <= steps[-1]) & ~run.before_learning
    curves = run.returns[complete.kept][:, learned]
    return ComparedRun(
        label,
        complete,
        returns,
        scores,
        first_step_above(positions[learned], curves, threshold),
        Estimate.of(lambda seeds: seeds.mean(-1), scores),
        Estimate.of(iqm, scores),
        style,
    )


def _pair(first: ComparedRun, second: ComparedRun) -> ComparedPair:
    a, b = first.scores, second.scores
    p = permutation_p(a, b)
    return ComparedPair(
        first,
        second,
        Estimate.of(lambda x, y: x.mean(-1) - y.mean(-1), a, b),
        Estimate.of(lambda x, y: iqm(x) - iqm(y), a, b),
        Estimate.of_improvement(a, b),
        p,
        p,
    )


def _corrected(environments: list[EnvironmentComparison]) -> list[EnvironmentComparison]:
    """The same comparisons, with p-values that are corrected for the number of all of them."""
    corrected = iter(holm([pair.p for one in environments for pair in one.pairs]))
    return [
        replace(one, pairs=[replace(pair, corrected_p=next(corrected)) for pair in one.pairs])
        for one in environments
    ]


def _limit_notes(runs: Sequence[Record]) -> list[str]:
    """A sentence for each environment in which episodes have different limits."""
    limits: dict[str, set[int]] = {}
    for run in runs:
        limit = run.config.get("env.episode_limit")
        if limit is not None:  # that of imported curves is not known
            limits.setdefault(run.env_name, set()).add(limit)
    return [
        f"{env}: episodes are truncated after {' or '.join(map(str, sorted(of)))} steps, depending "
        "on the run: returns may not be comparable."
        for env, of in limits.items()
        if len(of) > 1
    ]


def _notes(environment: EnvironmentComparison) -> list[str]:
    """What readers must know about the numbers of an environment."""
    env, notes = environment.env, []
    if not environment.are_evaluations:
        notes.append(f"{env}: {OTHER_STEPS}")
    notes += [
        f"{run.label!r} on {env} is compared by {run.seeds.text('seeds')}: leaving out seeds "
        "favours a method that is unstable."
        for run in environment.runs
        if run.seeds.left_out
    ]
    return notes


def _few_seeds_note(pairs: Sequence[ComparedPair]) -> list[str]:
    """A sentence if a run has few seeds."""
    sizes = [(len(pair.first.scores), len(pair.second.scores)) for pair in pairs]
    fewest = min((min(size) for size in sizes if min(size)), default=FEW)
    if fewest >= FEW:
        return []
    note = f"Intervals from fewer than {FEW} seeds are too narrow, and one seed has none"
    if any(min(size) > 0 and smallest_p(*size) * len(pairs) >= LEVEL for size in sizes):
        note += "; with so few seeds, some of these comparisons cannot show any difference"
    return [f"{note}."]
