"""The results at locations: run folders, folders of run folders, and sweeps."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.chart import record_labels, setting_text
from freqdyna.results.compare import RunComparison, compare_runs
from freqdyna.results.folder import is_run_folder
from freqdyna.results.record import Record
from freqdyna.results.result import Result, load
from freqdyna.sweeps import execute
from freqdyna.sweeps.search import trials_so_far
from freqdyna.sweeps.status import stored_sweep, stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep

Location = Path | str
"""A folder, or the address of a sweep, such as s3://bucket/sweep."""


class Located(NamedTuple):
    """A training, and where it is stored."""

    source: str
    result: Result
    trial: tuple[int, float | None] | None = None
    """Of a hyper-parameter search: the number of the trial, and its objective."""


def load_sweep(location: str) -> dict[str, Result]:
    """Load the results of a sweep.

    Args:
        location: The folder of the sweep, or a location such as s3://bucket/sweep.

    Returns:
        A result for each combination, by the values of the varied settings. A combination with
        missing blocks has only the seeds that are finished. For a hyper-parameter search: the
        finished trials, by number and settings.

    """
    return {name: result for name, result, _ in _results(Storage(str(location)))}


def _results(storage: Storage) -> Iterator[tuple[str, Result, tuple[int, float | None] | None]]:
    """The name and the result of each combination, or of each trial, with its `Located.trial`."""
    sweep = stored_sweep(storage)
    if sweep.search is not None:
        for number, trial in enumerate(trials_so_far(sweep, storage)):
            if trial.state == "done":
                texts = ", ".join(f"{k} {setting_text(v)}" for k, v in trial.settings.items())
                yield f"trial {number}: {texts}", trial.record(storage), (number, trial.value)
        return
    stored = stored_units(storage)
    others = [execute.load(storage, name) for name in stored - {u.name for u in sweep.units()}]
    for config, varied in zip(sweep.configs(), sweep.varied(), strict=True):
        units = [unit.name for unit in sweep.blocks(config) if unit.name in stored]
        blocks = [execute.load(storage, name) for name in units]
        # A version with other defaults gave the same units other names.
        blocks = blocks or _of_other_names(others, sweep, varied)
        if blocks:
            name = ", ".join(f"{name} {value}" for name, value in varied.items())
            yield name or config.agent_name, execute.merged(blocks), None


def _of_other_names(others: list[Result], sweep: Sweep, varied: dict[str, Any]) -> list[Result]:
    """Those of a combination, each seed of the sweep at most once."""
    blocks, missing = [], set(range(sweep.first_seed, sweep.first_seed + sweep.seeds))
    for one in sorted(others, key=lambda block: block.config.first_seed):
        seeds = set(one.seeds.tolist())
        if seeds <= missing and _belongs(one.config, sweep.settings | varied):
            blocks.append(one)
            missing -= seeds
    return blocks


def _belongs(config: Config, settings: dict[str, Any]) -> bool:
    """Whether a configuration has these settings, whatever the others are."""
    try:
        return Config.of(config.flat() | settings) == config
    except FreqdynaError:  # a setting that it does not use
        return False


def find(location: Location, known: set[Location] | None = None) -> list[Located]:
    """The trainings at a location: a run folder, a folder of run folders, or a sweep.

    Locations in `known` are not read again; those that are read are added to it.
    """
    storage, known = Storage(str(location)), set() if known is None else known
    folder, homes = Path(storage.root).resolve(), list[Location]()
    if not storage.is_local:
        homes = [str(location)]
    elif is_run_folder(folder) or (folder / FILE).is_file():
        homes = [folder]
    elif folder.is_dir():
        homes += [path.resolve() for path in sorted(folder.iterdir()) if is_run_folder(path)]
    if not homes:
        raise FreqdynaError(
            f"{relative(location)!r} has no training; it must be a run folder, a folder of run "
            "folders, or a sweep"
        )
    unread = [home for home in homes if home not in known]
    known.update(unread)
    trainings: list[Located] = []
    for home in unread:
        source = relative(home)
        if isinstance(home, Path) and is_run_folder(home):
            trainings.append(Located(source, load(source)))
            continue
        results = list(_results(Storage(str(home))))
        if not results:
            raise FreqdynaError(f"{source!r} is a sweep without any finished unit")
        trainings += [Located(source, result, trial) for _, result, trial in results]
    return trainings


def relative(location: Location) -> str:
    """A relative path, so that what is sent to others does not name a home folder."""
    return str(location) if "://" in str(location) else Path(os.path.relpath(location)).as_posix()


def compare(
    *runs: str | os.PathLike[str] | Record | Mapping[str, Record],
    names: Sequence[str] | None = None,
    measure: str = "mean",
    x: str = "steps",
    threshold: float | None = None,
    baseline: str | None = None,
    all_pairs: bool = False,
) -> RunComparison:
    """Compare runs, sweeps and imported curves by statistics over their seeds.

    Runs in the same environment are compared with a baseline: differences of means and of
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
        x: What runs are compared over: environment "steps", or "seconds" of training. Then the
            last tenth is that of the time, and the threshold is reached after some seconds.
        threshold: The return for the steps to a threshold, which an untrained policy must not
            meet; None for the middle between the mean return of untrained policies and the highest
            mean return in an environment.
        baseline: The run that all others are compared with: its name, or its number in the table
            of an environment; None for the first one.
        all_pairs: Whether to compare all pairs instead; p-values are then corrected for more
            comparisons.

    Returns:
        The comparison: `print` shows its tables, `plot` draws it, and `save_table` writes it as CSV
        or LaTeX.

    """
    chosen = _chosen(runs)
    if names is not None and len(names) != len(chosen):
        raise FreqdynaError(
            f"names has {len(names)} names; it must have one for each of {len(chosen)} runs"
        )
    records = [record for record, *_ in chosen]
    labels = record_labels(records, [source for _, source, _ in chosen])
    return compare_runs(
        records,
        names or [key or label for (*_, key), label in zip(chosen, labels, strict=True)],
        measure=measure,
        x=x,
        threshold=threshold,
        baseline=baseline,
        all_pairs=all_pairs,
    )


def _chosen(runs: Sequence[Any]) -> list[tuple[Record, str, str | None]]:
    """The runs that the arguments of `compare` stand for, with source and key in a mapping."""
    chosen: list[tuple[Record, str, str | None]] = []
    known: set[Location] = set()
    for run in runs:
        if isinstance(run, Record):
            chosen.append((run, f"run {len(chosen) + 1}", None))
        elif isinstance(run, Mapping):
            chosen += [(record, name, name) for name, record in run.items()]
        else:
            chosen += [(one.result, one.source, None) for one in find(os.fspath(run), known)]
    return chosen
