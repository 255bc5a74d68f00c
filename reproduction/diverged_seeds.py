"""What is said about seeds that diverged or stopped, in findings and about stored trainings."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from freqdyna.results.chart import Chart, Panel
from freqdyna.results.complete_seeds import DIVERGED_AT
from freqdyna.results.record import Record
from reproduction.base import Experiment, Findings, Stored

NEAR = 0.05
"""A return is as low as possible if it is within this part of the range above the lowest one."""


def findings_of(experiment: Experiment, units: dict[str, Stored]) -> Findings:
    """Analyse stored units, and say which seeds are left out.

    If no seed of a training is left, the experiment is not analysed, and the findings say so. An
    optional training without seeds is treated as if it were not stored.
    """
    complete = {
        name: unit.record.complete_seeds
        for name, unit in units.items()
        if unit.record is not None and unit.record.complete_seeds.left_out
    }
    gone = {
        name: f"{name}: {seeds.none_left}"
        for name, seeds in complete.items()
        if not any(seeds.kept)
    }
    if not gone.keys() <= _optional(experiment):
        note = f"Not analysed: {'; '.join(gone.values())}."
        return Findings(Chart([Panel(f"{experiment.name}: not analysed")]), (), notes=(note,))
    found = experiment.analyse({name: unit for name, unit in units.items() if name not in gone})
    if not complete:
        return found
    listed = "; ".join(f"{name}: {seeds.text('seeds')}" for name, seeds in complete.items())
    note = (
        "Seeds that diverged or stopped are left out of every statistic, which favours an unstable "
        f"method. {listed}."
    )
    return replace(found, notes=(*found.notes, note))


def _optional(experiment: Experiment) -> set[str]:
    """The names of the units that the analysis can do without, of either size."""
    units = [unit for quick in (False, True) for unit in experiment.units(quick)]
    return {unit.name for unit in units if unit.optional}


def seeds_of_stored(records: Iterable[Record]) -> str:
    """A paragraph on how many seeds of stored trainings are left out of statistics.

    Version 0.1 did not store `diverged_at` of these trainings. A network that is not finite always
    chooses the same action and gives climbs no direction, so that most seeds cannot have diverged.
    """
    trainings = list(records)
    seeds = sum(len(record.seeds) for record in trainings)
    left_out = sum(int((~record.complete_seeds.kept).sum()) for record in trainings)
    number = "no seed is" if not left_out else f"{left_out} of the seeds are"
    text = (
        f"The {len(trainings)} stored trainings have {seeds:,} seeds; {number} left out because of "
        "divergence or a failing environment."
    )
    unknown = [record for record in trainings if DIVERGED_AT not in record.metrics]
    if unknown:
        open_seeds = sum(int(_may_have_diverged(record).sum()) for record in unknown)
        text += (
            f" {len(unknown)} of the trainings were stored by version 0.1, which did not record "
            f"when a seed diverged. {open_seeds} of their seeds have the lowest return of their "
            "training at the last evaluation, and no climb with a direction: the stored numbers do "
            "not show whether these diverged or only did not learn. The others cannot have "
            "diverged."
        )
    return text


def _may_have_diverged(record: Record) -> np.ndarray:
    """Which seeds of a training without `diverged_at` may have diverged, shape (seeds,)."""
    returns, vanished = record.returns, record.metrics.get("climb_vanished")
    low, high = returns.min(), returns.max()
    lowest = returns[:, -1] <= low + NEAR * (high - low)
    return lowest if vanished is None else lowest & (vanished[:, -1] >= 1)
