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


def imitation(name):
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

    def __call__(self):
        write = Storage.write

        def write_and_disturb(storage, name, contents):
            write(storage, name, contents)
            if name.startswith("running/") and "/checkpoint" in name:
                self.disturb(marks(self.compute.args[0]))

        Storage.write = write_and_disturb
        try:
            self.compute()
        finally:
            Storage.write = write

    def disturb(self, folder):
        """Disturb the unit; what tests must know is marked by files in the folder."""
        raise NotImplementedError


class KilledOnce(Disturbed):
    """Its worker is killed at the first attempt."""

    def disturb(self, folder):
        if not (folder / self.name).exists():
            (folder / self.name).touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Held(Disturbed):
    """It waits until `release` is called."""

    def disturb(self, folder):
        (folder / self.name).touch()
        until = time.monotonic() + LAST_RESORT
        while not (folder / RELEASED).exists():
            if time.monotonic() > until:
                os._exit(1)
            time.sleep(0.05)


class KilledThenHeld(Held):
    """The worker of the first unit that gets there is killed; all others wait."""

    def disturb(self, folder):
        try:
            (folder / KILLED).touch(exist_ok=False)
        except FileExistsError:
            super().disturb(folder)
        else:
            os.kill(os.getpid(), signal.SIGKILL)


def marks(location):
    """The folder of marks for the sweep at `location`, beside it."""
    folder = Path(f"{location}.marks")
    folder.mkdir(exist_ok=True)
    return folder


def marked(location):
    """The units that were disturbed."""
    return {path.name for path in marks(location).iterdir()} - {RELEASED, KILLED}


def release(location):
    """Let the units that are held go on."""
    (marks(location) / RELEASED).touch()


class Disturbing(Engine):
    """Another engine, whose last tasks are disturbed; by default all."""

    def __init__(self, engine, kind, last=1000):
        self.engine, self.kind, self.last = engine, kind, last

    def slots(self):
        return self.engine.slots()

    def run(self, tasks):
        first = max(0, len(tasks) - self.last)
        disturbed = [Task(task.name, self.kind(task.name, task.compute)) for task in tasks[first:]]
        return self.engine.run([*tasks[:first], *disturbed])
