"""The display of a sweep: its running units, its status, and the best trials."""

import math
import sys
from collections.abc import Collection
from datetime import timedelta

from rich.box import SIMPLE
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from freqdyna.config.checks import value_text
from freqdyna.sweeps.notes import printable
from freqdyna.sweeps.status import Status
from freqdyna.sweeps.sweep import Sweep, SweepUnit
from freqdyna.sweeps.trial import Trial
from freqdyna.training.engines.base import TaskOutcome
from freqdyna.training.progress import make_display

SHOWN = 20
"""The maximum number of running units in the table."""


class SweepView:
    """Shows the progress of a sweep.

    Args:
        sweep: The sweep.
        units: The units to compute, including those that are done.
        slots: The number of units that run at a time.

    """

    def __init__(self, sweep: Sweep, units: list[SweepUnit], slots: int) -> None:
        varied = varied_settings(sweep)
        self._labels = {unit.name: describe(unit, varied) for unit in units}
        self._short = {unit.name: _what_varies(unit, varied) for unit in units}
        self._steps = sum(unit.config.seeds * unit.config.steps for unit in units)
        self._slots = slots
        self._display = make_display()
        self._shown: set[str] = set()

    def begin(self, done: int) -> None:
        """Print an overview; `done` is the number of units that are done."""
        self._display.note(
            f"{len(self._labels)} units, {self._steps:,} environment steps; {done} are done; "
            f"{self._slots} at a time"
        )

    def ended(self, outcome: TaskOutcome) -> None:
        """Print the outcome of a unit."""
        end = printable(outcome.error) if outcome.error else "done"
        self._display.note(f"{outcome.name} {self._labels[outcome.name]}: {end}")

    def show(self, status: Status) -> None:
        """Show the progress of every running unit and of the whole sweep."""
        self._display.headline(headline(status, self._slots))
        running = {self._short[name]: note for name, note in sorted(status.running.items())}
        for label in self._shown - set(running):
            self._display.remove(label)
        for label, note in running.items():
            text = note.last.text() if note.last else ""
            self._display.show(label, note.step, note.steps, text)
        self._shown = set(running)

    def close(self) -> None:
        """Close the display."""
        self._display.close()


def headline(status: Status, slots: int) -> str:
    """A summary of the sweep in one line."""
    seconds = status.seconds_left(slots)
    left = "" if seconds is None else f", about {timedelta(seconds=round(seconds))} left"
    return (
        f"{len(status.done)} of {len(status.units)} units done, {len(status.running)} running, "
        f"{status.waiting} waiting, {len(status.failed)} failed{left}"
    )


def render(status: Status, slots: int, varied: Collection[str]) -> Group:
    """The status of a sweep for a terminal.

    Args:
        status: The status.
        slots: The number of programs that run at a time.
        varied: The settings in which units differ, see `varied_settings`.

    Returns:
        A summary, a table of the running units, and the failures.

    """
    units = {unit.name: unit for unit in status.units}
    parts: list[Text | Table] = [Text(headline(status, slots))]
    if status.running:
        table = Table(box=SIMPLE, pad_edge=False)
        for title in ("running", "", "step", "return", "left", "on"):
            table.add_column(title)
        for name, note in sorted(status.running.items())[:SHOWN]:
            table.add_row(
                name,
                Text(describe(units[name], varied)),
                f"{note.step:,} of {note.steps:,}",
                Text(note.last.text().removeprefix("mean return ") if note.last else ""),
                "estimating"
                if note.seconds_left is None
                else str(timedelta(seconds=round(note.seconds_left))),
                Text(note.host),
            )
        parts.append(table)
    for name, error in sorted(status.failed.items()):
        parts.append(Text(f"{name} {describe(units[name], varied)} failed: {error}", style="red"))
    return Group(*parts)


def print_trials(trials: list[Trial]) -> None:
    """Print the best trials of a search, the best first."""
    table = Table(title="best trials", box=SIMPLE, pad_edge=False)
    names = list(trials[0].settings) if trials else []
    for title in ("trial", "return", "seeds", *names):
        table.add_column(title, justify="right")
    values = [-math.inf if trial.value is None else trial.value for trial in trials]
    order = sorted(range(len(trials)), key=lambda index: -values[index])
    for index in order[:SHOWN]:
        trial = trials[index]
        cells = (
            f"{value:.4g}" if isinstance(value, float) else value_text(name, value)
            for name, value in trial.settings.items()
        )
        reached = trial.state if trial.value is None else f"{trial.value:.1f}"
        seeds = trial.seeds.text() if trial.seeds else ""
        if trial.seeds and not trial.seeds.kept.any():
            reached = "none"
        table.add_row(str(index), reached, seeds, *(Text(printable(cell)) for cell in cells))
    Console(file=sys.stdout).print(table)


def varied_settings(sweep: Sweep) -> list[str]:
    """The settings in which the units of a sweep differ."""
    return list(sweep.vary if sweep.search is None else sweep.search.space)


def describe(unit: SweepUnit, varied: Collection[str]) -> str:
    """A readable name of a unit: algorithm, environment, varied settings and seeds."""
    name = printable(f"{unit.config.agent_name} on {unit.config.env}")
    in_name = ("algorithm", "search_control", "env")
    return f"{name}, {_what_varies(unit, [n for n in varied if n not in in_name])}"


def _what_varies(unit: SweepUnit, varied: Collection[str]) -> str:
    """The values of the varied settings, and the seeds."""
    config = unit.config
    parts = [f"{name} {value_text(name, getattr(config, name))}" for name in varied]
    first, last = config.first_seed, config.first_seed + config.seeds - 1
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    return printable(", ".join([*parts, seeds]))
