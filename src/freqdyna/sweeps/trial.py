"""One trial of a search: its settings, state and value."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from freqdyna.results.complete_seeds import CompleteSeeds
from freqdyna.results.record import Record
from freqdyna.sweeps import unit_files
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import SweepUnit


@dataclass(frozen=True)
class Trial:
    """One trial of a search."""

    settings: dict[str, Any]
    units: list[SweepUnit]
    state: Literal["waiting", "failed", "done"]
    """It is "waiting" if a unit is neither stored nor failed."""
    value: float | None = None
    """The objective; None if the trial is not done or all of its seeds diverged or stopped."""
    seeds: CompleteSeeds | None = field(default=None, compare=False)
    """The seeds that `value` is the mean over, if the trial is done."""

    def record(self, storage: Storage) -> Record:
        """The training of all seeds, if the trial is done."""
        return unit_files.merged([unit_files.load(storage, unit) for unit in self.units])


def trial_at(
    storage: Storage,
    settings: dict[str, Any],
    units: list[SweepUnit],
    objective: str,
    done: set[str],
) -> Trial:
    """The current state of a trial.

    Args:
        storage: The location of the sweep.
        settings: The settings of the trial.
        units: Its units.
        objective: "mean" or "last".
        done: The names of all stored units.

    """
    open_units = [unit for unit in units if unit.name not in done]
    if open_units:
        failed = all(storage.has(f"failed/{unit.name}.json") for unit in open_units)
        return Trial(settings, units, "failed" if failed else "waiting")
    record = Trial(settings, units, "done").record(storage)
    seeds = record.complete_seeds
    return Trial(settings, units, "done", _reached(record, objective, seeds.kept), seeds)


def _reached(record: Record, objective: str, kept: np.ndarray) -> float | None:
    """The objective, averaged over the seeds that are `kept`; None if there are none."""
    returns = record.mean_return() if objective == "mean" else record.returns[:, -1]
    return float(np.mean(returns[kept])) if kept.any() else None
