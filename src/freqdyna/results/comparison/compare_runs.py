"""Compare runs in the same environments, by the statistics that are used for the paper."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from freqdyna.core.errors import FreqdynaError, shown, unknown_name
from freqdyna.results.chart import LineStyle
from freqdyna.results.comparison.common_steps import RULE, common_steps, measured, returns_at
from freqdyna.results.comparison.few_seeds import NO_INTERVAL, few_seeds_notes
from freqdyna.results.comparison.findings import (
    MEASURES,
    AveragedPair,
    ComparedPair,
    ComparedRun,
    EnvironmentComparison,
    Estimate,
)
from freqdyna.results.comparison.run_comparison import RunComparison
from freqdyna.results.comparison.statistics import (
    first_step_above,
    holm,
    iqm,
    permutation_p,
)
from freqdyna.results.record import Record
from freqdyna.results.run_styles import run_styles


def compare_runs(
    runs: Sequence[Record],
    labels: Sequence[str],
    *,
    measure: str = "mean",
    threshold: float | None = None,
    first_step: int | None = None,
    baseline: str | None = None,
) -> RunComparison:
    """Compare runs; those of different environments are not compared with each other.

    Args:
        runs: At least two runs in the same environment.
        labels: Their names, which must differ within an environment.
        measure: The number of each seed: its mean return over the common steps, or that over the
            last tenth of them ("final").
        threshold: The return for the steps to a threshold; None for the middle between the lowest
            and the highest mean return of the runs in an environment.
        first_step: Evaluations before this step count for the steps to a threshold only; None for
            those until the end of the longest warm-up.
        baseline: The run that all others are compared with: its name, or its number in the table
            of an environment; None to compare all pairs.

    """
    if measure not in MEASURES:
        allowed = " or ".join(map(repr, MEASURES))
        raise FreqdynaError(f"measure is {shown(measure)}; it must be {allowed}")
    if baseline is not None and baseline not in labels and not baseline.isdecimal():
        raise unknown_name("baseline", baseline, dict.fromkeys(labels))
    groups: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        groups.setdefault(run.env_name, []).append(i)
    alone = {env: labels[group[0]] for env, group in groups.items() if len(group) == 1}
    if len(alone) == len(groups):
        listed = ", ".join(f"{label!r} on {env}" for env, label in alone.items())
        raise FreqdynaError(
            f"runs has {listed or 'no run'}; it must have at least two runs in the same environment"
        )
    styles = run_styles([run.config for run in runs], list(labels))
    found = []
    for env, group in groups.items():
        if env not in alone:
            chosen = [(runs[i], labels[i], styles[i]) for i in group]
            found.append(_environment(env, chosen, measure, threshold, first_step, baseline))
    corrected = _corrected(found)
    averages = _averages(corrected)
    pairs = [pair for environment in corrected for pair in environment.pairs]
    sizes = [(len(pair.first.scores), len(pair.second.scores)) for pair in pairs]
    notes = [f"{label!r} is the only run on {env}: not compared." for env, label in alone.items()]
    notes += _limit_notes(
        [runs[i] for env, group in groups.items() for i in group if env not in alone]
    )
    notes += [
        f"{label!r} has returns of training episodes, with exploration, not of evaluations."
        for run, label in zip(runs, labels, strict=True)
        if run.has_training_returns
    ]
    return RunComparison(
        corrected,
        averages,
        [
            *notes,
            *_left_out_notes(corrected),
            *few_seeds_notes(sizes, len(pairs)),
            *([NO_INTERVAL] if any(map(_lacks_interval, corrected)) else []),
        ],
    )


def _limit_notes(runs: Sequence[Record]) -> list[str]:
    """A sentence for each environment in which episodes have different limits."""
    limits: dict[str, set[int]] = {}
    for run in runs:
        if run.config.get("env.episode_limit") is not None:  # that of imported curves is not known
            limits.setdefault(run.env_name, set()).add(run.config["env.episode_limit"])
    return [
        f"{env}: episodes are truncated after {' or '.join(map(str, sorted(of)))} steps, depending "
        "on the run: returns may not be comparable."
        for env, of in limits.items()
        if len(of) > 1
    ]


def _lacks_interval(environment: EnvironmentComparison) -> bool:
    return any(run.lacks_interval for run in environment.runs) or any(
        pair.lacks_interval for pair in environment.pairs
    )


def _corrected(environments: list[EnvironmentComparison]) -> list[EnvironmentComparison]:
    """The same comparisons, with p-values that are corrected for the number of all of them."""
    corrected = iter(holm([pair.p for one in environments for pair in one.pairs]))
    return [
        replace(one, pairs=[replace(pair, corrected_p=next(corrected)) for pair in one.pairs])
        for one in environments
    ]


def _averages(environments: list[EnvironmentComparison]) -> list[AveragedPair]:
    """The pairs of names that several environments have, averaged over these."""
    found: dict[tuple[str, str], dict[str, ComparedPair]] = {}
    for one in environments:
        for pair in one.pairs:
            if len(pair.first.scores) and len(pair.second.scores):
                names = pair.first.label, pair.second.label
                found.setdefault(names, {})[one.env] = pair
    averages = []
    for names, of in found.items():
        if len(of) > 1:
            scores = [(pair.first.scores, pair.second.scores) for pair in of.values()]
            averages.append(AveragedPair(*names, list(of), Estimate.of_improvement(*scores)))
    return averages


def _left_out_notes(environments: list[EnvironmentComparison]) -> list[str]:
    """Sentences about seeds that are left out, and about evaluations that were replaced."""
    notes = []
    for one in environments:
        if not one.are_own_steps:
            notes.append(f"{one.env}: {RULE}")
        for run in one.runs:
            if run.seeds.left_out:
                notes.append(
                    f"{run.label!r} on {one.env} is compared by {run.seeds.text('seeds')}: leaving "
                    "out seeds favours a method that is unstable."
                )
    return notes


def _environment(
    env: str,
    runs: list[tuple[Record, str, LineStyle]],
    measure: str,
    threshold: float | None,
    first_step: int | None,
    baseline: str | None,
) -> EnvironmentComparison:
    labels = [label for _, label, _ in runs]
    repeated = next((label for label in labels if labels.count(label) > 1), None)
    if repeated is not None:
        raise FreqdynaError(f"labels has {repeated!r} twice on {env}; runs must have unique names")
    steps = common_steps([run for run, _, _ in runs], labels, first_step)
    if threshold is None:
        threshold = _middle([run for run, _, _ in runs], steps)
    compared = [_compared_run(*run, steps, measure, threshold) for run in runs]
    inside = [r.steps[(r.steps >= steps[0]) & (r.steps <= steps[-1])] for r, _, _ in runs]
    chosen = [(second, first) for first, second in combinations(compared, 2)]
    if baseline is not None:
        numbers = dict(enumerate(labels, 1))
        name = numbers.get(int(baseline)) if baseline.isdecimal() else baseline
        if name not in labels:
            raise FreqdynaError(f"baseline is {baseline!r}, which is not a run on {env}")
        base = compared[labels.index(name)]
        chosen = [(run, base) for run in compared if run is not base]
    return EnvironmentComparison(
        env,
        measure,
        steps,
        all(np.array_equal(own, steps) for own in inside),
        threshold,
        compared,
        [_pair(*pair) for pair in chosen],
    )


def _middle(runs: list[Record], steps: np.ndarray) -> float:
    """The middle between the lowest and the highest mean return of any run at common steps."""
    means = [
        returns_at(run, steps)[run.complete_seeds.kept].mean(axis=0)
        for run in runs
        if run.complete_seeds.kept.any()
    ]
    every = np.concatenate([*means, np.empty(0)])
    return float((every.min() + every.max()) / 2) if len(every) else float("nan")


def _compared_run(
    run: Record,
    label: str,
    style: LineStyle,
    steps: np.ndarray,
    measure: str,
    threshold: float,
) -> ComparedRun:
    complete = run.complete_seeds
    returns = returns_at(run, steps)[complete.kept]
    scores = returns[:, measured(steps, measure)].mean(axis=1)
    until = run.steps <= steps[-1]
    return ComparedRun(
        label,
        complete,
        returns,
        scores,
        first_step_above(run.steps[until], run.returns[complete.kept][:, until], threshold),
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
        Estimate.of_improvement((a, b)),
        p,
        p,
    )
