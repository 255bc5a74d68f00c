"""One unit's work: train from its newest checkpoint, tell how far it is, leave its result.

The training runs in a scratch folder of the machine; what must outlive the machine is copied to
the sweep's storage. A unit is finished when `units/NAME.parquet` is there.
"""

import hashlib
import os
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from freqdyna.core.arrays import load_arrays
from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import SweepUnit
from freqdyna.sweeps.unit_files import store
from freqdyna.training import checkpoint
from freqdyna.training.interrupts import InterruptedRun
from freqdyna.training.progress import Progress

SECONDS_BETWEEN_NOTES = 2.0


def compute(location: str, settings: list[dict[str, Any]], checkpoint_seconds: float) -> None:
    """Compute units in one program, and store them.

    Everything comes in as plain data, so that any process on any machine can be asked to.

    Args:
        location: Of the sweep.
        settings: `SweepUnit.settings` of each unit.
        checkpoint_seconds: Seconds between two checkpoints.

    """
    from freqdyna.training.prepare import prepare_run, prepare_runs_together
    from freqdyna.training.saver import RunOptions

    storage = Storage(location)
    units = [SweepUnit.of(of_one, len(settings)) for of_one in settings]
    if all(storage.has(f"units/{unit.name}.parquet") for unit in units):
        return
    configs = [unit.config for unit in units]
    if len(units) > 1:
        run = prepare_runs_together(configs)
    else:
        run = prepare_run(configs[0], None, version=units[0].version)
        configs = [run.config]  # with what its environment decides
    with tempfile.TemporaryDirectory(prefix="freqdyna-") as scratch:
        progress = UnitProgress(
            storage, [unit.name for unit in units], Path(scratch), run.config.steps
        )
        progress.fetch()
        options = RunOptions(True, False, False, checkpoint_seconds)
        try:
            result = run.execute(Path(scratch), options, progress)
        except InterruptedRun:
            progress.keep_checkpoint()
            raise
    for place, (unit, config) in enumerate(zip(units, configs, strict=True)):
        store(storage, unit, result.rows(config, place * config.seeds))
    progress.remove_checkpoint()


class UnitProgress(Progress):
    """Copies to the storage what a run tells and saves: its step, and its newest checkpoint."""

    def __init__(self, storage: Storage, names: list[str], scratch: Path, steps: int) -> None:
        self._storage, self._names, self._scratch, self._steps = storage, names, scratch, steps
        self._checkpoint = f"running/{program_name(names)}.npz"
        self._began, self._told = time.time(), 0.0
        self._first_step = 0
        self._kept: str | None = None

    def fetch(self) -> None:
        """Bring the checkpoint that an earlier attempt left, if there is one."""
        contents = self._storage.read(self._checkpoint)
        if contents is not None:
            path = self._scratch / "fetched.npz"
            path.write_bytes(contents)
            try:
                step = int(load_arrays(path)[1]["step"])
            except (FreqdynaError, KeyError, TypeError, ValueError):
                path.unlink()  # the unit starts from its first step
                return
            self._first_step = step
            self._kept = checkpoint.checkpoint_path(self._scratch, step).name
            path.rename(self._scratch / self._kept)

    def keep_checkpoint(self) -> None:
        """Copy the newest checkpoint, if there is a new one."""
        saved = checkpoint.checkpoints(self._scratch)
        if saved and saved[0].name != self._kept:
            self._storage.write(self._checkpoint, saved[0].read_bytes())
            self._kept = saved[0].name

    def remove_checkpoint(self) -> None:
        """Remove the checkpoint: everything is stored."""
        self._storage.remove(self._checkpoint)

    def start(self) -> None:
        """Start the clock."""
        self._began = time.time()

    def note(self, text: str) -> None:
        """Say nothing: the sweep shows all units together."""

    def warn(self, text: str) -> None:
        """Say nothing: the metrics tell which seeds diverged."""

    def update(self, step: int, mean_return: float | None) -> None:
        """Leave a note of the step now and then, and each new checkpoint."""
        self.keep_checkpoint()
        now = time.time()
        if now - self._told < SECONDS_BETWEEN_NOTES:
            return
        self._told = now
        done = max(step - self._first_step, 1)
        left = (now - self._began) / done * (self._steps - step)
        facts: dict[str, Any] = {
            "step": step,
            "steps": self._steps,
            "mean_return": mean_return,
            "time": now,
        }
        facts |= {"seconds_left": left, "host": socket.gethostname(), "pid": os.getpid()}
        facts["together"] = len(self._names)
        for name in self._names:
            self._storage.write_json(f"running/{name}.json", facts)


def program_name(names: list[str]) -> str:
    """Of the program that computes these units: with another unit in it, it is another program."""
    if len(names) == 1:
        return names[0]
    return hashlib.sha256(" ".join(names).encode()).hexdigest()[:16]
