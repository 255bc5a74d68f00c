"""`freqdyna reproduce NAME`: compute what is not stored yet, then say what it shows."""

import json
import shutil
import time
import zlib
from pathlib import Path

from freqdyna.devices import seed_devices
from freqdyna.errors import FreqdynaError
from freqdyna.experiments import store
from freqdyna.experiments.base import Experiment, Findings, Stored, Unit, Work
from freqdyna.experiments.watch import Watch
from freqdyna.results import run_folder
from freqdyna.stopping import InterruptedRun, stop_requests

FULL, QUICK = Path("runs/reproduce"), Path("runs/reproduce-quick")
"""Where results go unless told otherwise."""
FIGURE = "figure.png"


def reproduce(experiment: Experiment, out: Path, quick: bool) -> Findings:
    """Compute the units that `out` lacks, analyse all of them, and draw the figure.

    Results are in the folder `out`/NAME. After an interruption the same call goes on.
    """
    folder = out / experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FreqdynaError(f"out is {str(out)!r}, which cannot be made: {error}") from None
    units = experiment.units(quick)
    missing = [unit for unit in units if store.read(folder, unit) is None]
    if not missing:
        print(f"{experiment.name}: analysing what is stored in {folder}")
    else:
        size = "under a minute" if quick else experiment.duration
        print(f"{experiment.name}: computing {len(missing)} of {len(units)} parts, {size}")
    for unit in missing:
        _compute(unit, folder, f"{experiment.name} {unit.name}")
    findings = analyse(experiment, out, quick)
    findings.figure.savefig(folder / FIGURE)
    return findings


def _compute(unit: Unit, folder: Path, title: str) -> None:
    """Compute a unit and store it; if it is interrupted, what it saved waits for the next call."""
    # What another size or setting of the unit left unfinished is not taken up.
    settings = zlib.crc32(json.dumps(unit.settings, sort_keys=True).encode())
    scratch = folder / f"{unit.name}-{settings:08x}.unfinished"
    resumed = scratch.is_dir()
    scratch.mkdir(exist_ok=True)
    devices = seed_devices(2**20)  # all of them; before JAX computes anything
    facts = run_folder.provenance(devices, resumed=resumed)
    began = time.monotonic()
    try:
        with Watch(title) as watch, stop_requests(unit.saves) as stop:
            columns = unit.compute(Work(scratch, watch.report, stop))
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; the same command goes on from here") from None
    facts["seconds"] = round(time.monotonic() - began, 1)
    store.write(folder, unit, columns, facts)
    shutil.rmtree(scratch)


def analyse(experiment: Experiment, out: Path, quick: bool = False) -> Findings:
    """What the stored units show; all of them must be there."""
    return experiment.analyse(stored(experiment, out, quick))


def stored(experiment: Experiment, out: Path, quick: bool = False) -> dict[str, Stored]:
    """The stored units by name; a missing one is refused."""
    found = {}
    for unit in experiment.units(quick):
        one = store.read(out / experiment.name, unit)
        if one is None:
            path = store.unit_path(out / experiment.name, unit)
            raise FreqdynaError(
                f"{path} is missing; compute it with: freqdyna reproduce {experiment.name}"
            )
        found[unit.name] = one
    return found


def is_stored(experiment: Experiment, out: Path) -> bool:
    """Whether every unit of the full size is in `out`."""
    return all(
        store.unit_path(out / experiment.name, unit).is_file() for unit in experiment.units(False)
    )
