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
from freqdyna.experiments.trainings import with_seeds
from freqdyna.experiments.watch import Watch
from freqdyna.results import run_folder
from freqdyna.stopping import InterruptedRun, stop_requests

FULL, QUICK = Path("runs/reproduce"), Path("runs/reproduce-quick")
"""Where results go unless told otherwise."""
FIGURE = "figure.png"


def reproduce(
    experiment: Experiment,
    out: Path,
    quick: bool = False,
    seeds: int | None = None,
    processes: int = 1,
) -> Findings:
    """Compute the units that `out` lacks, analyse all of them, and draw the figure.

    Results are in the folder `out`/NAME; trainings, which figures share, in `out`/trainings.
    After an interruption the same call goes on. `seeds` is for trainings of another size than the
    paper's, `processes` for several units at a time.
    """
    folder = out / experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FreqdynaError(f"out is {str(out)!r}, which cannot be made: {error}") from None
    units = sized_units(experiment, quick, seeds)
    missing = [unit for unit in units if store.read(folder, unit) is None]
    if not missing:
        print(f"{experiment.name}: analysing what is stored in {out}")
    else:
        size = "under a minute" if quick else experiment.duration
        size = f"{seeds} seeds instead of the paper's" if seeds else size
        print(f"{experiment.name}: computing {len(missing)} of {len(units)} parts, {size}")
    if processes > 1 and len(missing) > 1:
        from freqdyna.experiments.parallel import compute_all

        compute_all(experiment.name, [u.name for u in missing], out, quick, seeds, processes)
    else:
        for unit in missing:
            compute(unit, folder)
    findings = analyse(experiment, out, quick, seeds)
    findings.figure.savefig(folder / FIGURE)
    return findings


def sized_units(experiment: Experiment, quick: bool, seeds: int | None) -> list[Unit]:
    """The units of an experiment at the size wanted."""
    units = experiment.units(quick)
    return units if seeds is None else [with_seeds(unit, seeds) for unit in units]


def compute(unit: Unit, folder: Path) -> None:
    """Compute a unit and store it; if it is interrupted, what it saved waits for the next call."""
    # What another size or setting of the unit left unfinished is not taken up.
    settings = zlib.crc32(json.dumps(unit.settings, sort_keys=True).encode())
    scratch = store.unit_path(folder, unit).with_suffix(f".{settings:08x}.unfinished")
    resumed = scratch.is_dir()
    scratch.mkdir(parents=True, exist_ok=True)
    devices = seed_devices(2**20)  # all of them; before JAX computes anything
    facts = run_folder.provenance(devices, resumed=resumed)
    began = time.monotonic()
    try:
        with Watch(f"{folder.name} {unit.name}") as watch, stop_requests(unit.saves) as stop:
            columns = unit.compute(Work(scratch, watch.report, stop))
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; the same command goes on from here") from None
    facts["seconds"] = round(time.monotonic() - began, 1)
    store.write(folder, unit, columns, facts)
    shutil.rmtree(scratch)


def analyse(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> Findings:
    """What the stored units show; all of them must be there."""
    return experiment.analyse(stored(experiment, out, quick, seeds))


def stored(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> dict[str, Stored]:
    """The stored units by name; a missing one is refused."""
    found = {}
    for unit in sized_units(experiment, quick, seeds):
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
