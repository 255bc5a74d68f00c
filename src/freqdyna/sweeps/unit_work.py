"""Computing a unit: train from its newest checkpoint, report progress, and store the result.

The training runs in a scratch folder of the machine; checkpoints and results are copied to the
storage of the sweep. A unit is finished when `units/NAME.parquet` exists.
"""

import hashlib
import math
import os
import socket
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from freqdyna.config import Config
from freqdyna.core.arrays import decode_arrays
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.plugins import import_code
from freqdyna.sweeps.pace import Pace
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import SweepUnit
from freqdyna.sweeps.unit_files import store
from freqdyna.training import checkpoint
from freqdyna.training.interrupts import InterruptedRun
from freqdyna.training.progress import LastEvaluation, Progress

SECONDS_BETWEEN_NOTES = 2.0


def compute(location: str, settings: list[dict[str, Any]], checkpoint_seconds: float) -> None:
    """Compute units in one program and store them.

    All arguments are plain data, so that any process on any machine can do it.

    Args:
        location: The location of the sweep.
        settings: `SweepUnit.settings` of each unit.
        checkpoint_seconds: Seconds between checkpoints.

    """
    from freqdyna.training.prepare import prepare_run, prepare_runs_together
    from freqdyna.training.saver import RunOptions

    storage = Storage(location)
    units = [SweepUnit.of(of_one, len(settings)) for of_one in settings]
    if all(storage.has(f"units/{unit.name}.parquet") for unit in units):
        return
    configs = [unit.config for unit in units]
    with tempfile.TemporaryDirectory(prefix="freqdyna-") as scratch:
        progress = UnitProgress(
            storage, [unit.name for unit in units], Path(scratch), configs[0].steps
        )
        progress.write_note(0, None)  # it counts as running while it compiles
        if len(units) > 1:
            run = prepare_runs_together(configs)
        else:
            config = configs[0]  # of names that `Sweep.check_names` has allowed
            import_code(env=config.env, search_control=config.search_control, model=config.model)
            run = prepare_run(config, None)
            configs = [run.config]  # with the settings that depend on its environment
        progress.fetch(run.config)
        options = RunOptions(True, False, False, checkpoint_seconds)
        try:
            result = run.execute(Path(scratch), options, progress)
        except InterruptedRun:
            progress.keep_checkpoint()
            raise
    progress.write_durations()
    for place, (unit, config) in enumerate(zip(units, configs, strict=True)):
        store(storage, unit, result.rows(config, place * config.seeds))
    progress.remove_checkpoint()


class UnitProgress(Progress):
    """Copies the progress and the newest checkpoint of a run to the storage."""

    def __init__(self, storage: Storage, names: list[str], scratch: Path, steps: int) -> None:
        self._storage, self._names, self._scratch, self._steps = storage, names, scratch, steps
        self._checkpoint = f"running/{program_name(names)}.npz"
        self._pace, self._noted = Pace(time.monotonic()), -math.inf
        self._kept: str | None = None

    def fetch(self, config: Config) -> None:
        """Fetch the checkpoint of an earlier attempt, if there is one that belongs to this run.

        Args:
            config: The configuration of the run.

        """
        try:
            contents = self._storage.read(self._checkpoint)
            if contents is None:
                return
            _, note = decode_arrays(contents)
            if not checkpoint.belongs_to(note, config):
                return
            step = checkpoint.step_of(note, config)
        except FreqdynaError:  # the unit starts from its first step
            return
        path = checkpoint.checkpoint_path(self._scratch, step)
        path.write_bytes(contents)
        self._pace, self._kept = replace(self._pace, first_step=step), path.name

    def keep_checkpoint(self) -> None:
        """Copy the newest checkpoint, if there is a new one."""
        saved = checkpoint.checkpoints(self._scratch)
        if saved and saved[0].name != self._kept:
            self._storage.write(self._checkpoint, saved[0].read_bytes())
            self._kept = saved[0].name

    def remove_checkpoint(self) -> None:
        """Remove the checkpoint once everything is stored."""
        self._storage.remove(self._checkpoint)

    def start(self) -> None:
        """Do nothing: the time per step is measured from the first update."""

    def note(self, text: str) -> None:
        """Do nothing: the sweep shows all units together."""

    def warn(self, text: str) -> None:
        """Do nothing: the metrics show which seeds diverged."""

    def update(self, step: int, last: LastEvaluation | None) -> None:
        """Write a progress note from time to time, and copy each new checkpoint."""
        self.keep_checkpoint()
        now = time.monotonic()
        evaluates = last is not None and last.step == step
        self._pace = self._pace.updated(now, step, evaluates)
        if now - self._noted >= SECONDS_BETWEEN_NOTES:
            self._noted = now
            self.write_note(step, last)

    def write_note(self, step: int, last: LastEvaluation | None) -> None:
        """Write a progress note.

        Args:
            step: The number of steps that every seed has taken.
            last: The last evaluation; None before the first one.

        """
        now = time.monotonic()
        estimate = self._pace.estimate(now, step, self._steps)
        facts: dict[str, Any] = {
            "step": step,
            "steps": self._steps,
            "mean_return": last.mean_return if last else None,
            "left_out": last.left_out if last else "",
            "evaluated": last.step if last else None,
            "time": time.time(),
            "seconds_left": estimate.seconds_left if estimate else None,
            "setup_seconds": estimate.setup_seconds if estimate else None,
            "seconds": now - self._pace.began,
        }
        facts |= {"host": socket.gethostname(), "pid": os.getpid()}
        facts["together"] = len(self._names)
        for name in self._names:
            self._storage.write_json(f"running/{name}.json", facts)

    def write_durations(self) -> None:
        """Write how long the units took, if they were computed from their first step."""
        if self._pace.first_step:
            return
        seconds = (time.monotonic() - self._pace.began) / len(self._names)
        for name in self._names:
            self._storage.write_json(f"durations/{name}.json", {"seconds": seconds})


def program_name(names: list[str]) -> str:
    """The name of the program that computes these units."""
    if len(names) == 1:
        return names[0]
    return hashlib.sha256(" ".join(names).encode()).hexdigest()[:16]
