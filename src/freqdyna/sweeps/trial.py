"""One trial of a search: what is tried, how far it is, and what it reached."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from freqdyna.results.result import Result
from freqdyna.sweeps import unit_files
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import SweepUnit


@dataclass(frozen=True)
class Trial:
    """Settings under trial."""

    settings: dict[str, Any]
    units: list[SweepUnit]
    state: Literal["waiting", "failed", "done"]
    """Waiting: a unit is neither stored nor failed yet."""
    value: float | None = None
    """What was reached; None if the trial is not done, or if it reached no finite number."""

    def result(self, storage: Storage) -> Result:
        """Of all seeds, if it is done."""
        return unit_files.merged([unit_files.load(storage, unit) for unit in self.units])


def trial_at(
    storage: Storage,
    settings: dict[str, Any],
    units: list[SweepUnit],
    objective: str,
    done: set[str],
) -> Trial:
    """The trial as it is at `storage`, where the units `done` are stored."""
    open_units = [unit for unit in units if unit.name not in done]
    if open_units:
        failed = all(storage.has(f"failed/{unit.name}.json") for unit in open_units)
        return Trial(settings, units, "failed" if failed else "waiting")
    result = Trial(settings, units, "done").result(storage)
    return Trial(settings, units, "done", _reached(result, objective))


def _reached(result: Result, objective: str) -> float | None:
    """The mean over all seeds."""
    returns = result.returns[:, -1:]
    if objective == "mean":
        after = result.steps >= result.config.warmup_steps
        returns = result.returns[:, after] if after.any() else returns
    mean = float(np.mean(returns))
    return mean if np.isfinite(mean) else None
