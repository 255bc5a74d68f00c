"""Executing a sweep: an engine computes what is not stored yet, and failures are recorded."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.toml_files import read_text
from freqdyna.sweeps import unit_work
from freqdyna.sweeps.lock import locked
from freqdyna.sweeps.notes import printable
from freqdyna.sweeps.status import Status, read_status
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit
from freqdyna.sweeps.view import SweepView
from freqdyna.training.engines.base import Engine, Task

SECONDS_BETWEEN_UPDATES = 2.0


def read_sweep(path: Path, allow_code: bool) -> tuple[str, Sweep]:
    """The text of a sweep file, and the sweep that it describes.

    Args:
        path: The file.
        allow_code: Whether it may name code to import.

    """
    text = read_text(path, "sweep file")
    sweep = Sweep.parse(text)
    sweep.check_names(allow_code)
    return text, sweep


def execute_sweep(
    text: str, sweep: Sweep, storage: Storage, engine: Engine, checkpoint_seconds: float = 60.0
) -> Status:
    """Compute the units that are not stored yet; units that failed before are retried.

    After an interruption, the same call resumes the sweep.

    Args:
        text: The text of the sweep file, which is stored with the results.
        sweep: The sweep that it describes.
        storage: The location of the sweep.
        engine: Computes the units.
        checkpoint_seconds: Seconds between checkpoints of a unit.

    Returns:
        Which units are done, and which failed.

    """
    with locked(storage):
        storage.remove_partial_files()
        storage.write(FILE, sweep.stored(text).encode())
        programs = [[unit] for unit in sweep.units()]
        return compute(sweep, programs, storage, engine, checkpoint_seconds)


def compute(
    sweep: Sweep,
    programs: list[list[SweepUnit]],
    storage: Storage,
    engine: Engine,
    checkpoint_seconds: float,
) -> Status:
    """Compute the units that are not stored yet.

    Args:
        sweep: The sweep that they belong to.
        programs: The units, grouped by compiled program.
        storage: The location of the sweep.
        engine: Computes the units.
        checkpoint_seconds: Seconds between checkpoints of a unit.

    Returns:
        Which of the units are done, and which failed.

    Raises:
        FreqdynaError: If units were computed but are not stored.

    """
    units = [unit for program in programs for unit in program]
    before = read_status(storage, units)
    for name in before.failed:
        storage.remove(f"failed/{name}.json")
    tasks, together = [], {program[0].name: program for program in programs}
    for name, program in together.items():
        if any(unit.name not in before.done for unit in program):
            settings = [unit.settings for unit in program]
            work = partial(unit_work.compute, storage.location, settings, checkpoint_seconds)
            tasks.append(Task(name, work))
    view = SweepView(sweep, units, engine.slots())
    view.begin(len(before.done))
    updated = time.monotonic()
    errors: dict[str, str] = {}
    outcomes = engine.run(tasks)
    try:
        for outcome in outcomes:
            if outcome is not None and outcome.error is not None:
                for unit in together[outcome.name]:
                    errors[unit.name] = printable(outcome.error)
                    _note_failure(storage, unit.name, outcome.error)
            if outcome is not None:
                view.ended(outcome)
            if time.monotonic() - updated >= SECONDS_BETWEEN_UPDATES:
                updated = time.monotonic()
                view.show(read_status(storage, units))
    finally:
        outcomes.close()  # now, and not when it is collected: the lock is released next
        view.close()
    after = read_status(storage, units)
    failed = {name: error for name, error in errors.items() if name not in after.done}
    lost = {unit.name for unit in units} - after.done - set(failed)
    if lost:
        raise FreqdynaError(
            f"out is {storage.location!r}, where {len(lost)} of {len(units)} computed units are "
            "missing; it must be accessible to all nodes, such as a shared disk"
        )
    return replace(after, running={}, failed=failed)


def _note_failure(storage: Storage, name: str, error: str) -> None:
    """Record why a unit failed, unless that cannot be written, as on a full disk."""
    try:
        storage.remove(f"running/{name}.json")
        storage.write_json(f"failed/{name}.json", {"error": error, "time": time.time()})
    except OSError:
        return
