"""Computing a unit of an experiment: from where an earlier attempt stopped, to its stored file."""

import json
import shutil
import time
import zlib
from pathlib import Path
from typing import Any

from freqdyna.core.files import write_atomically
from freqdyna.experiments import store
from freqdyna.experiments.base import Experiment, Unit, Work
from freqdyna.experiments.trainings import check_seeds, with_seeds
from freqdyna.experiments.unit_progress import Watch
from freqdyna.results import run_folder
from freqdyna.results.record import Record
from freqdyna.training.devices import seed_devices
from freqdyna.training.interrupts import InterruptedRun, stop_requests

COMMITS = "commits.json"
"""In the folder of an unfinished unit: the commits that worked on it."""


def sized_units(experiment: Experiment, quick: bool, seeds: int | None) -> list[Unit]:
    """The units of an experiment at the size wanted."""
    units = experiment.units(quick)
    if seeds is None:
        return units
    check_seeds(experiment, seeds)
    return [with_seeds(unit, seeds) for unit in units]


def compute(unit: Unit, folder: Path) -> None:
    """Compute a unit and store it; if it is interrupted, what it saved waits for the next call."""
    # What another size or setting of the unit left unfinished is not taken up.
    settings = zlib.crc32(json.dumps(unit.settings, sort_keys=True).encode())
    scratch = store.unit_path(folder, unit).with_suffix(f".{settings:08x}.unfinished")
    scratch.mkdir(parents=True, exist_ok=True)
    devices = seed_devices(2**20)  # all of them; before JAX computes anything
    facts = _provenance(scratch, devices)
    began = time.monotonic()
    try:
        with Watch(f"{folder.name} {unit.name}") as watch, stop_requests(unit.saves) as stop:
            outcome = unit.compute(Work(scratch, watch.report, stop))
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; the same command resumes") from None
    facts["seconds"] = round(time.monotonic() - began, 1)
    if isinstance(outcome, Record):
        facts = outcome.provenance | facts
    store.write(folder, unit, outcome, facts)
    shutil.rmtree(scratch)


def _provenance(scratch: Path, devices: list[Any]) -> dict[str, Any]:
    """Where a unit is made; and, if it goes on from a checkpoint, at which commits it was begun."""
    resumed = any(scratch.rglob("checkpoint*"))
    facts = run_folder.provenance(devices, resumed=resumed)
    commits = scratch / COMMITS
    earlier = json.loads(commits.read_text()) if resumed and commits.is_file() else []
    others = [commit for commit in earlier if commit != facts["commit"]]
    write_atomically(
        commits, lambda file: file.write(json.dumps([*others, facts["commit"]]).encode())
    )
    return facts | ({"earlier_commits": others} if others else {})
