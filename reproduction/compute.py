"""Computing and storing a unit of an experiment, resuming an earlier attempt if there is one."""

import json
import shutil
import time
import zlib
from pathlib import Path
from typing import Any

from freqdyna.core import checksums
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import read_bytes, remove_partial_files, write_atomically
from freqdyna.core.lock import locked_folder
from freqdyna.results.provenance import provenance
from freqdyna.results.record import Record
from freqdyna.training.engines import seed_devices
from freqdyna.training.interrupts import InterruptedRun, stop_requests
from freqdyna.training.progress import Display
from reproduction import store
from reproduction.base import Experiment, Unit, Work
from reproduction.trainings import check_seeds, with_seeds

COMMITS = "commits.json"
"""In the folder of an unfinished unit: the commits that worked on it."""
PROGRESS = "progress.json"
"""In the same folder: its progress, for another process that shows it."""
SECONDS_BETWEEN_NOTES = 2.0


def sized_units(experiment: Experiment, quick: bool, seeds: int | None) -> list[Unit]:
    """The units of an experiment.

    Args:
        experiment: The experiment.
        quick: Whether to return the units of a quick run.
        seeds: The number of seeds per training, if it is not the default.

    """
    units = experiment.units(quick)
    if seeds is None:
        return units
    check_seeds(experiment, seeds)
    return [with_seeds(unit, seeds) for unit in units]


def compute(unit: Unit, folder: Path, display: Display | None = None) -> None:
    """Compute and store a unit; after an interruption, the next call resumes it.

    Args:
        unit: The unit.
        folder: The folder of its experiment.
        display: Shows the progress; None to write it to a file, see `read_progress`.

    """
    scratch = _scratch(unit, folder)
    with locked_folder(scratch):
        remove_partial_files(scratch)
        for member in unit.members or (unit,):
            store.remove_partial_files_of(folder, member)
        _compute(unit, folder, scratch, display or _NoteInFile(scratch / PROGRESS))
        shutil.rmtree(scratch)


def _compute(unit: Unit, folder: Path, scratch: Path, display: Display) -> None:
    devices = seed_devices(2**20)  # all of them; before JAX computes anything
    facts = _provenance(scratch, devices)
    task = f"{folder.name} {unit.name}:"
    began = time.monotonic()

    def report(done: int, total: int, text: str = "") -> None:
        display.show(task, done, total, text)

    try:
        with stop_requests(unit.saves) as stop:
            outcome = unit.compute(Work(scratch, report, stop, display))
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; the same command resumes") from None
    facts["seconds"] = round(time.monotonic() - began, 1)
    if isinstance(outcome, list):
        facts["trained_together"] = len(outcome)
        for member, record in zip(unit.members, outcome, strict=True):
            store.write(folder, member, record, record.provenance | facts)
    else:
        own = outcome.provenance if isinstance(outcome, Record) else {}
        store.write(folder, unit, outcome, own | facts)
    display.remove(task)


def read_progress(unit: Unit, folder: Path) -> tuple[int, int, str] | None:
    """The progress of a unit in another process: done, total and a text; None if unknown."""
    try:
        note = json.loads(read_bytes(_scratch(unit, folder) / PROGRESS))
        return int(note["done"]), int(note["total"]), str(note["text"])
    except (FreqdynaError, OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


class _NoteInFile(Display):
    """Writes the progress of one task to a file, for another process that shows it."""

    def __init__(self, path: Path) -> None:
        super().__init__(shown=False)
        self._path, self._last = path, 0.0

    def show(self, task: str, done: int, total: int, text: str = "") -> None:
        """Write the progress if some time has passed since the last note."""
        if time.monotonic() - self._last >= SECONDS_BETWEEN_NOTES:
            self._last = time.monotonic()
            note = json.dumps({"done": done, "total": total, "text": text})
            write_atomically(self._path, lambda file: file.write(note.encode()))


def _scratch(unit: Unit, folder: Path) -> Path:
    """The folder of an unfinished unit, which depends on its settings."""
    settings = zlib.crc32(json.dumps(unit.settings, sort_keys=True).encode())
    return store.unit_path(folder, unit).with_suffix(f".{settings:08x}.unfinished")


def _provenance(scratch: Path, devices: list[Any]) -> dict[str, Any]:
    """The provenance of a unit, including earlier commits if it resumes from a checkpoint."""
    resumed = any(scratch.rglob("checkpoint*"))
    facts = provenance(devices, resumed=resumed)
    path = scratch / COMMITS
    try:
        earlier = checksums.json_without_checksum(read_bytes(path))["commits"] if resumed else []
    except FileNotFoundError:
        earlier = []
    except (FreqdynaError, KeyError):
        earlier = None
    if not isinstance(earlier, list):
        earlier = ["unknown"]  # the file is damaged
    others = [commit for commit in earlier if commit != facts["commit"]]
    text = checksums.json_with_checksum({"commits": [*others, facts["commit"]]})
    write_atomically(path, lambda file: file.write(text.encode()))
    return facts | ({"earlier_commits": others} if others else {})
