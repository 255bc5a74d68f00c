"""Computing units: an engine trains those that are not stored yet.

Each unit is a training of one block of seeds, in a scratch folder of the machine that computes it.
Its run folder is copied to the storage at each checkpoint, so that any machine can resume it.
"""

import math
import socket
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import remove_partial_files
from freqdyna.core.plugins import import_code
from freqdyna.results.folder import FILES, METRICS, decode, encode
from freqdyna.results.record import Record
from freqdyna.results.result import Result
from freqdyna.sweeps.status import Note, Status, StatusDisplay, read_status, stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit
from freqdyna.training.engines import Engine, Task
from freqdyna.training.interrupts import InterruptedRun
from freqdyna.training.progress import Progress

SECONDS_BETWEEN_UPDATES = 2.0


def execute_sweep(
    sweep: Sweep,
    storage: Storage,
    engine: Engine,
    checkpoint_seconds: float = 60.0,
    take_over: bool = False,
) -> Status:
    """Compute the units of a sweep, whose file is stored with them: see `compute`."""
    with storage.lock(take_over):
        storage.write(FILE, sweep.stored())
        return compute(sweep.units(), storage, engine, checkpoint_seconds)


def compute(
    units: Iterable[SweepUnit],
    storage: Storage,
    engine: Engine,
    checkpoint_seconds: float = 60.0,
    title: str = "",
) -> Status:
    """Compute the units that are not stored yet; units that failed before are retried.

    After an interruption, the same call resumes them. `title` says in the display what they are.
    The caller holds the lock of the storage.
    """
    if storage.is_local:
        remove_partial_files(Path(storage.root))
    units = list({unit.name: unit for unit in units}.values())
    before = read_status(storage, units)
    for name in before.failed:
        storage.remove(f"failed/{name}.json")
    of_program: dict[str, list[SweepUnit]] = {}
    for unit in units:
        of_program.setdefault(unit.program or unit.name, []).append(unit)
    members = {together[0].name: together for together in of_program.values()}
    tasks = [
        Task(name, partial(train_units, storage.location, together, checkpoint_seconds))
        for name, together in members.items()
        if any(unit.name not in before.done for unit in together)
    ]
    done, failed = set(before.done), dict[str, str]()
    display = StatusDisplay(replace(before, failed={}), engine.slots(), title)
    updated = time.monotonic()
    outcomes = engine.run(tasks)
    try:
        for outcome in outcomes:
            if outcome is not None:
                names = {unit.name for unit in members[outcome.name]}
                if outcome.error is None:
                    done |= names
                else:
                    failed |= dict.fromkeys(names, outcome.error)
                    with suppress(OSError):  # as on a full disk
                        for name in names:
                            storage.remove(f"running/{name}.json")
                            storage.write_json(f"failed/{name}.json", {"error": outcome.error})
                display.ended(outcome)
            if time.monotonic() - updated >= SECONDS_BETWEEN_UPDATES:
                updated = time.monotonic()
                display.show(read_status(storage, units, done))
    except KeyboardInterrupt:
        display.note("stopping: running units save their state; one that compiles finishes that")
        raise
    finally:
        outcomes.close()  # now, and not when it is collected: the lock is released next
        display.close()
    lost = done - stored_units(storage)
    if lost:
        raise FreqdynaError(
            f"out is {storage.location!r}, where {len(lost)} of {len(units)} computed units are "
            "missing; it must be accessible to all nodes, such as a shared disk"
        )
    return Status(units, done, failed=failed)


def store(storage: Storage, unit: SweepUnit, record: Record) -> None:
    """Store a finished unit; the file that marks it as finished is written last."""
    for name, contents in encode(record).items():
        storage.write(f"units/{unit.name}/{name}", contents)


def load(storage: Storage, name: str) -> Result:
    """Load a stored unit; raises FreqdynaError if it is missing or damaged."""
    folder = f"units/{name}"
    files = {file: storage.read(f"{folder}/{file}") for file in FILES}
    if files[METRICS] is None:
        raise FreqdynaError(f"{storage.location}/{folder} is missing: the unit is not finished")
    try:
        return decode({file: text for file, text in files.items() if text is not None}, Result)
    except FreqdynaError as error:
        text = f"{storage.location}/{folder}/{error}; remove {folder} to recompute it"
        raise FreqdynaError(text) from None


def merged(blocks: list[Result]) -> Result:
    """Combine blocks of seeds into one record."""
    first = blocks[0]
    seeds = np.concatenate([block.seeds for block in blocks])
    ended: dict[str, str] = {}
    for block in blocks:
        ended |= block.provenance.get("ended", {})
    return replace(
        first,
        provenance=first.provenance | ({"ended": ended} if ended else {}),
        config=replace(first.config, seeds=len(seeds)),
        seeds=seeds,
        metrics={
            name: np.concatenate([block.metrics[name] for block in blocks])
            for name in first.metrics
        },
        parameters=np.concatenate([block.parameters for block in blocks]),
    )


def train_units(location: str, units: list[SweepUnit], checkpoint_seconds: float) -> None:
    """Train units in one program and store them: the task of a worker, on any machine."""
    from freqdyna.training.api import prepare, prepare_together
    from freqdyna.training.checkpoint import RunOptions

    storage = Storage(location)
    if all(storage.has(f"units/{unit.name}/{METRICS}") for unit in units):
        return  # by a worker that died before it could say so
    configs = [unit.config for unit in units]
    with tempfile.TemporaryDirectory(prefix="freqdyna-") as scratch:
        progress = UnitProgress(storage, units, Path(scratch))
        progress.write_note(progress.step, "")  # it counts as running while it compiles
        progress.fetch()
        if len(units) > 1:
            run = prepare_together(configs)
        else:
            config = configs[0]  # of names that the driver has allowed: `Sweep.read`
            import_code(**config.named)
            run = prepare(config)
        try:
            result = run.execute(Path(scratch), RunOptions(checkpoint_seconds), progress)
        except InterruptedRun:
            progress.copy_folder()
            progress.write_note(progress.step, "", at=0.0)  # it no longer counts as running
            raise
    for place, unit in enumerate(units):
        config = unit.config
        record = result.rows(config, place * config.seeds) if len(units) > 1 else result
        store(storage, unit, record)
    progress.remove()


class UnitProgress(Progress):
    """Copies the progress and the run folder of a program to the storage."""

    def __init__(self, storage: Storage, units: list[SweepUnit], scratch: Path) -> None:
        self._storage, self._scratch = storage, scratch
        self._names = [unit.name for unit in units]
        self._steps = units[0].config.steps
        self._folder = f"running/{units[0].program or units[0].name}"
        self._copied: dict[str, int] = {}
        """The files of the run folder in the storage, with their times of modification."""
        self._noted = -math.inf
        earlier = storage.read_json(f"running/{self._names[0]}.json")
        self.step: int = earlier.get("step", 0)

    def fetch(self) -> None:
        """Fetch the run folder of an earlier attempt, if there is one."""
        for name in self._storage.files(self._folder):
            path = self._scratch / name
            path.write_bytes(self._storage.read(f"{self._folder}/{name}") or b"")
            self._copied[name] = path.stat().st_mtime_ns

    def copy_folder(self) -> None:
        """Copy the files that are new; a checkpoint after what it needs."""
        paths = [path for path in self._scratch.iterdir() if not path.name.startswith(".")]
        files = {path.name: path.stat().st_mtime_ns for path in paths}
        for name in sorted(files, key=lambda name: name.startswith("checkpoint")):
            if self._copied.get(name) != files[name]:
                self._storage.write(f"{self._folder}/{name}", (self._scratch / name).read_bytes())
        for name in set(self._copied) - set(files):
            self._storage.remove(f"{self._folder}/{name}")
        self._copied = files

    def remove(self) -> None:
        """Remove everything once the units are stored."""
        self._storage.remove(self._folder)
        for name in self._names:
            self._storage.remove(f"running/{name}.json")

    def warn(self, text: str) -> None:
        """Do nothing: the metrics show which seeds diverged."""

    def update(self, step: int, text: str) -> None:
        """Copy new checkpoints, and write a progress note from time to time."""
        self.step = step
        self.copy_folder()
        if time.monotonic() - self._noted >= SECONDS_BETWEEN_UPDATES:
            self._noted = time.monotonic()
            self.write_note(step, text)

    def write_note(self, step: int, text: str, at: float | None = None) -> None:
        """Write the progress of every unit, with the current time unless another one is passed."""
        now = time.time() if at is None else at
        note = Note(step, self._steps, text, now, socket.gethostname())
        for name in self._names:
            self._storage.write_json(f"running/{name}.json", note._asdict())
