"""Tasks that die or wait at a known point of their unit, so that no test depends on timing.

Worker processes import this file.
"""

import os
import signal
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.storage import Storage
from freqdyna.training.engines import Engine, Task

RELEASED, KILLED = "released", "killed"
LAST_RESORT = 1200.0
"""Seconds after which something hangs, however slow or busy the machine is."""


def imitation(name: str) -> None:
    """A task that kills its process, fails or succeeds, as its name says."""
    if name == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "failing":
        raise FreqdynaError("it failed")


@dataclass(frozen=True)
class Disturbed:
    """Computes a unit, and calls `disturb` as soon as its first checkpoint is stored."""

    name: str
    compute: partial
    """Of a unit's task."""

    def __call__(self) -> None:
        """Compute the unit."""
        write = Storage.write

        def write_and_disturb(storage: Storage, name: str, contents: bytes) -> None:
            write(storage, name, contents)
            if name.startswith("running/") and "/checkpoint" in name:
                self.disturb()

        Storage.write = write_and_disturb
        try:
            self.compute()
        finally:
            Storage.write = write

    def disturb(self) -> None:
        """Do what this task is for."""
        raise NotImplementedError

    @property
    def location(self) -> str:
        """Of the sweep."""
        return self.compute.args[0]

    def mark(self) -> Path:
        """A file beside the sweep's folder that says that the unit was disturbed."""
        return marks(self.location) / self.name


class KilledOnce(Disturbed):
    """Its worker is killed at the first attempt."""

    def disturb(self) -> None:
        """Leave a mark and die, unless there is a mark."""
        if not self.mark().exists():
            self.mark().touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Held(Disturbed):
    """It waits until `release` is called."""

    def disturb(self) -> None:
        """Leave a mark and wait."""
        self.mark().touch()
        until = time.monotonic() + LAST_RESORT
        while not (marks(self.location) / RELEASED).exists():
            if time.monotonic() > until:
                os._exit(1)
            time.sleep(0.05)


class KilledThenHeld(Held):
    """The worker of the first unit that gets there is killed; all others wait."""

    def disturb(self) -> None:
        """Die if no worker has, otherwise leave a mark and wait."""
        try:
            (marks(self.location) / KILLED).touch(exist_ok=False)
        except FileExistsError:
            super().disturb()
        else:
            os.kill(os.getpid(), signal.SIGKILL)


def marks(location: object) -> Path:
    """The folder of marks for the sweep at `location`."""
    folder = Path(f"{location}.marks")
    folder.mkdir(exist_ok=True)
    return folder


def marked(location: object) -> set[str]:
    """The units that were disturbed."""
    return {path.name for path in marks(location).iterdir()} - {RELEASED, KILLED}


def release(location: object) -> None:
    """Let the units that are held go on."""
    (marks(location) / RELEASED).touch()


class Disturbing(Engine):
    """Another engine, whose last tasks are disturbed; by default all."""

    def __init__(self, engine: Engine, kind: type[Disturbed], last: int = 1000) -> None:
        self.engine, self.kind, self.last = engine, kind, last

    def slots(self):
        """As many as the engine has."""
        return self.engine.slots()

    def run(self, tasks):
        """Run the tasks on the engine."""
        first = max(0, len(tasks) - self.last)
        disturbed = [Task(task.name, self.kind(task.name, task.compute)) for task in tasks[first:]]
        return self.engine.run([*tasks[:first], *disturbed])
