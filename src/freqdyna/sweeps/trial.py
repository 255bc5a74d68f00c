"""One trial of a search: its settings, state and value."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

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
    """The objective; None if the trial is not done or the objective is not finite."""

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
    return Trial(settings, units, "done", _reached(record, objective))


def _reached(record: Record, objective: str) -> float | None:
    """The objective, averaged over all seeds."""
    returns = record.returns[:, -1:]
    if objective == "mean":
        after = record.steps >= record.config.warmup_steps
        returns = record.returns[:, after] if after.any() else returns
    mean = float(np.mean(returns))
    return mean if np.isfinite(mean) else None
