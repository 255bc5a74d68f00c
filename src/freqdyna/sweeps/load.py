"""The results of a sweep: one `Result` for each combination, its blocks of seeds put together."""

from typing import Any

from freqdyna.results.result import Result
from freqdyna.sweeps import unit_files
from freqdyna.sweeps.optuna_search import trials_so_far
from freqdyna.sweeps.status import stored_sweep
from freqdyna.sweeps.storage import Storage


def load_sweep(location: str) -> dict[str, Result]:
    """The finished combinations of the sweep at `location`, by what is varied.

    A combination of which a block of seeds is missing comes with the seeds that are there. Of a
    search: the finished trials, by their number and what is tried.
    """
    storage = Storage(str(location))
    sweep = stored_sweep(storage)
    if sweep.search is not None:
        return {
            f"trial {number}: {_listed(trial.settings)}": Result.of(trial.record(storage))
            for number, trial in enumerate(trials_so_far(sweep, storage))
            if trial.state == "done"
        }
    there = storage.units("units", ".parquet")
    combinations = {}
    for config, varied in zip(sweep.configs(), sweep.varied(), strict=True):
        blocks = [unit_files.load(storage, u) for u in sweep.blocks(config) if u.name in there]
        if blocks:
            combinations[_listed(varied) or config.algorithm] = Result.of(unit_files.merged(blocks))
    return combinations


def _listed(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
