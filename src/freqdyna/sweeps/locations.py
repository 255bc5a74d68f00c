"""Finds the trainings at locations: run folders, folders of run folders, and sweeps."""

import os
from pathlib import Path
from typing import NamedTuple

from freqdyna.core.errors import FreqdynaError
from freqdyna.results import run_folder
from freqdyna.results.result import Result, load
from freqdyna.sweeps.load import load_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE

Location = Path | str
"""A folder, or the address of a sweep, such as s3://bucket/sweep."""


class FoundTraining(NamedTuple):
    """A training, and where it is stored."""

    source: str
    result: Result


def located(given: Location) -> Location:
    """The absolute path of a folder, or the address of a remote location."""
    if "://" not in str(given):
        return Path(given).absolute()
    storage = Storage(str(given))
    return Path(storage.location) if storage.is_local else str(given)


def homes(location: Location) -> list[Location]:
    """The run folders and sweeps at a location or directly inside it."""
    if isinstance(location, str):
        return [location]
    if run_folder.is_run_folder(location) or (location / FILE).is_file():
        return [location.resolve()]
    inside = sorted(location.iterdir()) if location.is_dir() else []
    return [path.resolve() for path in inside if run_folder.is_run_folder(path)]


def checked_homes(given: Location) -> list[Location]:
    """The same for a location as users write it; an error of one sentence if there is none."""
    found = homes(located(given))
    if not found:
        raise FreqdynaError(
            f"runs has {str(given)!r}; it must be a run folder, a folder of run folders, or a sweep"
        )
    return found


def trainings(home: Location) -> list[FoundTraining]:
    """The training in a run folder, or those of a sweep.

    Args:
        home: A run folder or a sweep, as `homes` returns it.

    """
    source = shown(home)
    if isinstance(home, Path) and run_folder.is_run_folder(home):
        return [FoundTraining(source, load(home))]
    found = load_sweep(str(home))
    if not found:
        raise FreqdynaError(f"{source!r} is a sweep without any finished unit")
    return [FoundTraining(source, result) for result in found.values()]


def shown(location: Location) -> str:
    """A relative path, so that what is sent to others does not name a home folder."""
    if isinstance(location, Path) and location.is_absolute():
        return Path(os.path.relpath(location)).as_posix()
    return str(location)
