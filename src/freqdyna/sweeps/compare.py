"""Compare runs, sweeps and imported curves."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.comparison.compare_runs import compare_runs
from freqdyna.results.comparison.run_comparison import RunComparison
from freqdyna.results.record import Record
from freqdyna.results.run_styles import record_labels
from freqdyna.sweeps.locations import Location, checked_homes, trainings


def compare(
    *runs: str | os.PathLike[str] | Record | Mapping[str, Record],
    names: Sequence[str] | None = None,
    measure: str = "mean",
    threshold: float | None = None,
    first_step: int | None = None,
    baseline: str | None = None,
) -> RunComparison:
    """Compare runs, sweeps and imported curves by statistics over their seeds.

    Runs in the same environment are compared with each other: differences of means and of
    interquartile means with bootstrap intervals, a permutation test that is corrected for the
    number of comparisons (Holm), the probability of improvement, performance profiles, and the
    steps to a threshold.

    Args:
        *runs: Run folders, folders of run folders, sweeps (folders or addresses such as
            s3://bucket/sweep), results of `freqdyna.train` or `freqdyna.load`, or results by name,
            as `freqdyna.load_sweep` returns them.
        names: Names of all runs, in this order; None for their algorithms, and the settings in
            which they differ.
        measure: The number of each seed: its mean return after the warm-up, or "final", that in
            the last tenth of the steps.
        threshold: The return for the steps to a threshold; None for the middle between the lowest
            and the highest mean return of the runs in an environment.
        first_step: Evaluations before this step count for the steps to a threshold only; None for
            those until the end of the longest warm-up.
        baseline: The run that all others are compared with: its name, or its number in the table
            of an environment; None to compare all pairs.

    Returns:
        The comparison: `print` shows its tables, `plot` draws it, and `save_table` writes it as CSV
        or LaTeX.

    """
    found = _found(runs)
    if names is not None and len(names) != len(found):
        raise FreqdynaError(
            f"names has {len(names)} names; it must have one for each of {len(found)} runs"
        )
    records = [run.record for run in found]
    labels = record_labels(records, [run.source for run in found])
    return compare_runs(
        records,
        names or [run.name or label for run, label in zip(found, labels, strict=True)],
        measure=measure,
        threshold=threshold,
        first_step=first_step,
        baseline=baseline,
    )


class _Found(NamedTuple):
    record: Record
    source: str
    """Where it is stored, or its place among the arguments."""
    name: str | None = None
    """The name that was passed with it."""


def _found(runs: Sequence[str | os.PathLike[str] | Record | Mapping[str, Record]]) -> list[_Found]:
    """All runs that the arguments of `compare` stand for; one folder or sweep is read once."""
    found: list[_Found] = []
    known: set[Location] = set()
    for run in runs:
        if isinstance(run, Record):
            found.append(_Found(run, f"run {len(found) + 1}"))
        elif isinstance(run, Mapping):
            found += [_Found(record, name, name) for name, record in run.items()]
        else:
            homes = [h for h in checked_homes(os.fspath(run)) if h not in known]
            known.update(homes)
            found += [
                _Found(result, source) for home in homes for source, result in trainings(home)
            ]
    return found
