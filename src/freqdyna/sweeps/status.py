"""Which units of a sweep are done, running and failed, and how that is displayed."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

from rich.box import SIMPLE
from rich.console import Group
from rich.table import Table
from rich.text import Text

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.results.folder import METRICS
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import FILE, Sweep, SweepUnit, printable
from freqdyna.training.engines import TaskOutcome
from freqdyna.training.progress import Display

RATE = "rate.json"
SILENT = 60.0
"""Seconds without a progress note after which a unit no longer counts as running."""
SHOWN = 20
"""The maximum number of running units in the table."""


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
    rate: float | None = None
    """Environment steps per second of all units together."""

    @property
    def waiting(self) -> int:
        """The number of units that have not been started."""
        return len(self.units) - len(self.done) - len(self.running) - len(self.failed)

    @property
    def steps_taken(self) -> int:
        """The environment steps of all units that are done or running."""
        taken = 0
        for unit in self.units:
            if unit.name in self.done:
                taken += unit.config.seeds * unit.config.steps
            elif unit.name in self.running:
                taken += unit.config.seeds * self.running[unit.name].step
        return taken

    @property
    def steps(self) -> int:
        """The environment steps of all units that have not failed."""
        units = (unit for unit in self.units if unit.name not in self.failed)
        return sum(unit.config.seeds * unit.config.steps for unit in units)

    def headline(self) -> str:
        """A summary in one line."""
        left = ""
        if self.rate and len(self.done) + len(self.failed) < len(self.units):
            seconds = round((self.steps - self.steps_taken) / self.rate)
            left = f", about {timedelta(seconds=seconds)} left"
        return (
            f"{len(self.done)} of {len(self.units)} units done, {len(self.running)} running, "
            f"{self.waiting} waiting, {len(self.failed)} failed{left}"
        )

    def render(self) -> Group:
        """A summary, a table of the running units, and the failures, for a terminal."""
        names = labels(self.units)
        parts: list[Text | Table] = [Text(self.headline())]
        if self.running:
            table = Table(box=SIMPLE, pad_edge=False)
            for title in ("running", "", "step", "", "on"):
                table.add_column(title)
            for name, note in sorted(self.running.items())[:SHOWN]:
                step = f"{note.step:,} of {note.steps:,}"
                table.add_row(
                    *(Text(printable(cell)) for cell in (name, names[name], step, *note[2::2]))
                )
            parts.append(table)
        for name, error in sorted(self.failed.items()):
            parts.append(Text(f"{name} {names[name]} failed: {printable(error)}", style="red"))
        return Group(*parts)


def stored_sweep(storage: Storage) -> Sweep:
    """The sweep that is stored at a location."""
    try:
        contents = storage.read(FILE)
    except OSError as error:
        raise FreqdynaError(f"{FILE} of {storage.location!r} cannot be read: {error}") from None
    if contents is None:
        raise FreqdynaError(f"{storage.location!r} is not a sweep: it has no {FILE}")
    try:
        return Sweep.parse_stored(contents)
    except DamagedFileError as error:
        raise FreqdynaError(
            f"{FILE} of {storage.location!r} was changed since the sweep was run ({error}); undo "
            "the change, or remove it and run the sweep file again"
        ) from None


def stored_units(storage: Storage) -> set[str]:
    """The names of all finished units at a location, whose metrics are written last."""
    files = storage.files("units")
    return {file.split("/")[0] for file in files if file.endswith(f"/{METRICS}")}


def read_status(storage: Storage, units: list[SweepUnit], done: set[str] | None = None) -> Status:
    """The current status of units; their finished units are listed unless `done` names them."""
    names = {unit.name for unit in units}
    done = names & (stored_units(storage) if done is None else done)
    running, failed = {}, {}
    for name in _named(storage, "running") & names - done:
        facts = storage.read_json(f"running/{name}.json")
        if set(facts) == set(Note._fields) and abs(time.time() - facts["time"]) < SILENT:
            running[name] = Note(**facts)
    for name in _named(storage, "failed") & names - done - set(running):
        failed[name] = str(storage.read_json(f"failed/{name}.json").get("error"))
    return Status(units, done, running, failed, storage.read_json(RATE).get("rate"))


def _named(storage: Storage, folder: str) -> set[str]:
    files = storage.files(folder)
    return {file.removesuffix(".json") for file in files if "/" not in file}


def labels(units: Iterable[SweepUnit]) -> dict[str, str]:
    """A readable name of each unit: the settings in which it differs from others, and its seeds."""
    units = list(units)
    settings = {unit.name: unit.config.flat() for unit in units}
    several_envs = len({unit.config.env for unit in units}) > 1
    alike: dict[tuple[str, str], list[str]] = {}
    for unit in units:
        alike.setdefault((unit.config.agent_name, unit.config.env), []).append(unit.name)
    named = {}
    for unit in units:
        config, own = unit.config, settings[unit.name]
        others = [settings[name] for name in alike[config.agent_name, config.env]]
        varied = [
            name
            for name in own
            if name not in ("seeds", "first_seed") and any(o.get(name) != own[name] for o in others)
        ]
        first, last = config.first_seed, config.first_seed + config.seeds - 1
        parts = [
            f"{config.agent_name} on {config.env}" if several_envs else config.agent_name,
            *(f"{name} {own[name]}" for name in varied),
            f"seed {first}" if first == last else f"seeds {first} to {last}",
        ]
        named[unit.name] = printable(", ".join(parts))
    return named


class StatusDisplay:
    """Shows the status of units while they are computed, and measures their rate."""

    def __init__(self, storage: Storage, status: Status, slots: int, title: str) -> None:
        self._storage, self._labels = storage, labels(status.units)
        self._began, self._taken = time.monotonic(), status.steps_taken
        self._display = Display()
        self._shown: set[str] = set()
        self._display.note(
            f"{title + ': ' if title else ''}{len(status.units)} units, {status.steps:,} "
            f"environment steps; {len(status.done)} are done; {slots} at a time"
        )

    def ended(self, outcome: TaskOutcome) -> None:
        """Print the outcome of a unit, or of the first unit of a program."""
        end = printable(outcome.error) if outcome.error else "done"
        self._display.note(f"{outcome.name} {self._labels[outcome.name]}: {end}")

    def show(self, status: Status) -> None:
        """Show the progress of every running unit and of all together."""
        taken = status.steps_taken - self._taken
        if taken > (status.steps - self._taken) / 50:  # before, most of the time is compilation
            status = replace(status, rate=taken / (time.monotonic() - self._began))
            self._storage.write_json(RATE, {"rate": status.rate})
        self._display.headline(status.headline())
        for name in self._shown - set(status.running):
            self._display.remove(self._labels[name])
        for name, note in sorted(status.running.items()):
            self._display.show(self._labels[name], note.step, note.steps, note.text)
        self._shown = set(status.running)

    def close(self) -> None:
        """Close the display."""
        self._display.close()
