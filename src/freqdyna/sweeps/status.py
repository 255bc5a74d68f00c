"""Which units of a sweep are done, running and failed, and how that is displayed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import check_seal
from freqdyna.envs.names import env_label
from freqdyna.results.chart import run_labels
from freqdyna.results.folder import METRICS
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit
from freqdyna.training.engines import TaskOutcome
from freqdyna.training.progress import Display

SILENT = 60.0
"""Seconds without a progress note after which a unit no longer counts as running."""
MOST_ROWS = 20
"""The maximum number of units or trials in a table."""


class Note(NamedTuple):
    """The progress of a running unit, as it is stored."""

    step: int
    steps: int
    text: str
    """Its last evaluation."""
    time: float
    """When it was written."""
    host: str


@dataclass(frozen=True)
class Status:
    """The units of a sweep by their state."""

    units: list[SweepUnit]
    done: set[str]
    running: dict[str, Note] = field(default_factory=dict)
    """The last progress note of each running unit."""
    failed: dict[str, str] = field(default_factory=dict)
    """The error of each failed unit."""
    stopped: dict[str, Note] = field(default_factory=dict)
    """The last note of each unit that stopped before its end, and goes on from its checkpoint."""

    @property
    def waiting(self) -> int:
        """The number of units that have not been started, or have stopped."""
        return len(self.units) - len(self.done) - len(self.running) - len(self.failed)

    @property
    def steps_taken(self) -> int:
        """The environment steps of all units that are done, running or stopped."""
        steps = {name: note.step for name, note in (self.stopped | self.running).items()}
        steps |= {unit.name: unit.config.steps for unit in self.units if unit.name in self.done}
        return sum(unit.config.seeds * steps.get(unit.name, 0) for unit in self.units)

    @property
    def steps(self) -> int:
        """The environment steps of all units that have not failed."""
        units = (unit for unit in self.units if unit.name not in self.failed)
        return sum(unit.config.seeds * unit.config.steps for unit in units)

    def headline(self) -> str:
        """A summary in one line."""
        return (
            f"{len(self.done)} of {len(self.units)} units done, {len(self.running)} running, "
            f"{self.waiting} waiting, {len(self.failed)} failed"
        )

    def listing(self) -> str:
        """A summary, and a line for each of the first units: running, failed, waiting, done."""
        texts = labels(self.units)
        rows: dict[str, list[str]] = {"running": [], "failed": [], "waiting": [], "done": []}
        for unit in self.units:
            state, facts = "done" if unit.name in self.done else "waiting", ""
            if unit.name in self.running:
                step, steps, text, _, host = self.running[unit.name]
                state = "running"
                facts = f": step {step:,} of {steps:,} on {host}{text and f', {text}'}"
            elif unit.name in self.failed:
                state, facts = "failed", f": {self.failed[unit.name]}"
            elif unit.name in self.stopped:
                note = self.stopped[unit.name]
                facts = f": stopped at step {note.step:,} of {note.steps:,}"
            rows[state].append(f"  {state:7}  {unit.name}  {texts[unit.name]}{facts}")
        lines = [line for of_state in rows.values() for line in of_state]
        more = [f"  ... and {len(lines) - MOST_ROWS:,} more"] if len(lines) > MOST_ROWS else []
        return "\n".join([self.headline(), *lines[:MOST_ROWS], *more])


def stored_sweep(storage: Storage) -> Sweep:
    """The sweep that is stored at a location."""
    contents = storage.read(FILE)
    if contents is None:
        raise FreqdynaError(f"{storage.location!r} is not a sweep: it has no {FILE}")
    try:
        check_seal(contents)
    except DamagedFileError as error:
        text = f"{FILE} of {storage.location!r} was changed ({error}); run the sweep file again"
        raise FreqdynaError(text) from None
    return Sweep.parse(contents.decode())


def stored_units(storage: Storage) -> set[str]:
    """The names of all finished units at a location, whose metrics are written last."""
    files = storage.files("units")
    return {file.split("/")[0] for file in files if file.endswith(f"/{METRICS}")}


def read_status(storage: Storage, units: list[SweepUnit], done: set[str] | None = None) -> Status:
    """The current status of units; their finished units are listed unless `done` names them."""
    names = {unit.name for unit in units}
    done = names & (stored_units(storage) if done is None else done)
    running: dict[str, Note] = {}
    stopped: dict[str, Note] = {}
    failed: dict[str, str] = {}
    for name in _noted(storage, "running") & names - done:
        if note := storage.read_json(f"running/{name}.json"):
            is_recent = abs(time.time() - note["time"]) < SILENT
            (running if is_recent else stopped)[name] = Note(**note)
    for name in _noted(storage, "failed") & names - done - set(running):
        failed[name] = str(storage.read_json(f"failed/{name}.json").get("error"))
        stopped.pop(name, None)
    return Status(units, done, running, failed, stopped)


def _noted(storage: Storage, folder: str) -> set[str]:
    """The names of the units with a note in a folder."""
    return {file.removesuffix(".json") for file in storage.files(folder) if "/" not in file}


def labels(units: Sequence[SweepUnit]) -> dict[str, str]:
    """A readable name of each unit: the settings in which it differs from others, and its seeds."""
    several_envs = len({env_label(unit.config) for unit in units}) > 1
    names = run_labels([replace(unit.config, first_seed=0) for unit in units])
    texts = {}
    for unit, name in zip(units, names, strict=True):
        first, last = unit.config.first_seed, unit.config.first_seed + unit.config.seeds - 1
        seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
        env = f" on {env_label(unit.config)}" if several_envs else ""
        texts[unit.name] = f"{name}{env}, {seeds}"
    return texts


class StatusDisplay:
    """Shows the status of units while they are computed."""

    def __init__(self, status: Status, slots: int, title: str) -> None:
        self._labels, self._display = labels(status.units), Display()
        self._shown: set[str] = set()
        go_on = f", {len(status.stopped)} go on where they stopped" if status.stopped else ""
        self._display.note(
            f"{title + ': ' if title else ''}{len(status.units)} units, {status.steps:,} "
            f"environment steps; {len(status.done)} are done{go_on}; {slots} at a time"
        )

    def ended(self, outcome: TaskOutcome) -> None:
        """Print the outcome of a unit, or of the first unit of a program."""
        label = self._labels[outcome.name]
        self._display.note(f"{outcome.name} {label}: {outcome.error or 'done'}")

    def note(self, text: str) -> None:
        """Print a line."""
        self._display.note(text)

    def show(self, status: Status) -> None:
        """Show the progress of all units together and, as bars, of every running one."""
        self._display.show("all units", status.steps_taken, status.steps, status.headline())
        if not self._display.has_bars:
            return
        for name in self._shown - set(status.running):
            self._display.remove(self._labels[name])
        for name, note in sorted(status.running.items()):
            self._display.show(self._labels[name], note.step, note.steps, note.text)
        self._shown = set(status.running)

    def close(self) -> None:
        """Close the display."""
        self._display.close()
