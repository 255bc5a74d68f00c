"""The results of a sweep: one `Result` for each combination, with all of its blocks of seeds."""

from typing import Any

from freqdyna.config.checks import value_text
from freqdyna.results.result import Result
from freqdyna.sweeps import unit_files
from freqdyna.sweeps.optuna_search import trials_so_far
from freqdyna.sweeps.status import stored_sweep
from freqdyna.sweeps.storage import Storage


def load_sweep(location: str) -> dict[str, Result]:
    """Load the results of a sweep.

    Args:
        location: The folder of the sweep, or a location such as s3://bucket/sweep.

    Returns:
        A result for each combination, by the values of the varied settings. A combination with
        missing blocks has only the seeds that are finished. For a hyper-parameter search: the
        finished trials, by number and settings.

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
            combinations[_listed(varied) or config.agent_name] = Result.of(
                unit_files.merged(blocks)
            )
    return combinations


def _listed(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value_text(name, value)}" for name, value in settings.items())
