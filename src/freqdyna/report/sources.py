"""Reads the locations that are passed to a report."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from freqdyna.core.errors import FreqdynaError
from freqdyna.report import paper, runs, sensitivity
from freqdyna.report.explorer import explorers
from freqdyna.report.section import Report, Section
from freqdyna.results import run_folder
from freqdyna.results.result import Result, load
from freqdyna.sweeps.load import load_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE

Location = Path | str
"""A folder, or the address of a sweep, such as s3://bucket/sweep."""


def gather(folders: Sequence[Location], command: str, say: Callable[[str], None]) -> Report:
    """Gather the content of a report from runs, sweeps and stored experiments.

    Args:
        folders: Run folders, folders of run folders, sweeps, or folders of `freqdyna reproduce`;
            duplicates are ignored.
        command: The command that writes the report.
        say: Called with progress messages.

    """
    if not folders:
        raise FreqdynaError("folders is empty; it must have at least one folder")
    sections: list[Section] = []
    results: list[Result] = []
    sources: list[str] = []
    known: set[Location] = set()
    for folder in dict.fromkeys(map(_located, folders)):
        homes = _homes(folder)
        for home in homes:
            if home not in known:
                found = _trainings(home)
                results += found
                sources += [shown(home)] * len(found)
        if homes:
            known.update(homes)
            say(f"{shown(folder)}: {_counted(len(results))} so far")
            continue
        parts = [] if isinstance(folder, str) else paper.stored_parts(folder)
        if isinstance(folder, str) or not parts:
            raise FreqdynaError(
                f"folders has {shown(folder)!r}; it must be a run folder, a folder of run folders, "
                "a sweep's folder, or a folder of freqdyna reproduce --out with complete results"
            )
        for section in paper.sections(folder, parts):
            sections.append(section)
            say(f"{shown(folder)}: {section.name} analysed ({len(sections)} of {len(parts)})")
    curves = [runs.section(results, sources), sensitivity.section(results)] if results else []
    return Report(
        title="Search-control in Dyna" if sections else "Training report",
        command=command,
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, freqdyna {metadata.version('freqdyna')}",
        sections=[*sections, *filter(None, curves)],
        explorers=explorers(results),
    )


def shown(location: Location) -> str:
    """A relative path, so that a report that is sent to others does not name a home folder."""
    if isinstance(location, Path) and location.is_absolute():
        return Path(os.path.relpath(location)).as_posix()
    return str(location)


def _located(given: Location) -> Location:
    """The absolute path of a folder, or the address of a remote location."""
    if "://" not in str(given):
        return Path(given).absolute()
    storage = Storage(str(given))
    return Path(storage.location) if storage.is_local else str(given)


def _homes(location: Location) -> list[Location]:
    """The run folders and sweeps at a location or directly inside it."""
    if isinstance(location, str):
        return [location]
    if any((location / name).is_file() for name in (run_folder.CONFIG, FILE)):
        return [location.resolve()]
    inside = sorted(location.glob(f"*/{run_folder.CONFIG}")) if location.is_dir() else []
    return [path.parent.resolve() for path in inside]


def _trainings(home: Location) -> list[Result]:
    if isinstance(home, Path) and (home / run_folder.CONFIG).is_file():
        return [load(home)]
    found = load_sweep(str(home))
    if not found:
        raise FreqdynaError(f"{shown(home)!r} is a sweep without any finished unit")
    return list(found.values())


def _counted(number: int) -> str:
    return "1 training" if number == 1 else f"{number} trainings"
