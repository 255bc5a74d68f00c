"""One view of all units of a sweep: a table that is redrawn on a terminal, lines elsewhere."""

import math
import sys
import time
from datetime import timedelta

from rich.box import SIMPLE
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from freqdyna.sweeps.notes import printable
from freqdyna.sweeps.status import Status
from freqdyna.sweeps.sweep import SweepUnit
from freqdyna.sweeps.trial import Trial
from freqdyna.training.engines.base import TaskOutcome

SECONDS_BETWEEN_LINES = 15.0
SHOWN = 20
"""Running units in the table; of more, the first by name."""


class View:
    """What a sweep tells while it works."""

    def __init__(self, units: list[SweepUnit], slots: int) -> None:
        self._units = {unit.name: unit for unit in units}
        self._slots = slots
        self._console = Console(file=sys.stdout)
        self._live = Live(console=self._console, auto_refresh=False) if _on_terminal() else None
        self._last = time.monotonic()

    def begin(self, done: int) -> None:
        """Say what will be done."""
        steps = sum(unit.config.seeds * unit.config.steps for unit in self._units.values())
        text = f"{len(self._units)} units, {steps:,} environment steps; {done} are done"
        self._say(f"{text}; {self._slots} at a time")
        if self._live is not None:
            self._live.start()

    def ended(self, outcome: TaskOutcome) -> None:
        """Tell of one unit's end."""
        label = describe(self._units[outcome.name])
        self._say(f"{outcome.name} {label}: " + ("done" if not outcome.error else outcome.error))

    def show(self, status: Status) -> None:
        """Tell how far every running unit is, and the whole."""
        if self._live is not None:
            self._live.update(render(status, self._slots), refresh=True)
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self._say(headline(status, self._slots))

    def close(self) -> None:
        """Leave the display as it is."""
        if self._live is not None:
            self._live.stop()

    def _say(self, text: str) -> None:
        self._console.print(printable(text), highlight=False, markup=False, soft_wrap=True)


def headline(status: Status, slots: int) -> str:
    """The whole sweep in one line."""
    seconds = status.seconds_left(slots)
    left = "" if seconds is None else f", about {timedelta(seconds=round(seconds))} left"
    return (
        f"{len(status.done)} of {len(status.units)} units done, {len(status.running)} running, "
        f"{status.waiting} waiting, {len(status.failed)} failed{left}"
    )


def render(status: Status, slots: int) -> Group:
    """The whole sweep in one line, its running units and its failures as tables."""
    units = {unit.name: unit for unit in status.units}
    parts: list[Text | Table] = [Text(headline(status, slots))]
    if status.running:
        table = Table(box=SIMPLE, pad_edge=False)
        for title in ("running", "", "step", "return", "left", "on"):
            table.add_column(title)
        for name, note in sorted(status.running.items())[:SHOWN]:
            mean = note.mean_return
            table.add_row(
                name,
                Text(describe(units[name])),
                f"{note.step:,} of {note.steps:,}",
                "" if mean is None else f"{mean:,.1f}",
                str(timedelta(seconds=round(note.seconds_left))),
                Text(note.host),
            )
        parts.append(table)
    for name, error in sorted(status.failed.items()):
        parts.append(Text(f"{name} {describe(units[name])} failed: {error}", style="red"))
    return Group(*parts)


def print_trials(trials: list[Trial]) -> None:
    """The best trials of a search, the best first."""
    table = Table(title="the best trials", box=SIMPLE, pad_edge=False)
    names = list(trials[0].settings) if trials else []
    for title in ("trial", "return", *names):
        table.add_column(title, justify="right")
    values = [-math.inf if trial.value is None else trial.value for trial in trials]
    order = sorted(range(len(trials)), key=lambda index: -values[index])
    for index in order[:SHOWN]:
        trial = trials[index]
        values_tried = trial.settings.values()
        cells = (f"{v:.4g}" if isinstance(v, float) else str(v) for v in values_tried)
        state = "not finite" if trial.state == "done" else trial.state
        reached = state if trial.value is None else f"{trial.value:.1f}"
        table.add_row(str(index), reached, *(Text(printable(cell)) for cell in cells))
    Console(file=sys.stdout).print(table)


def describe(unit: SweepUnit) -> str:
    """A unit for people."""
    config = unit.config
    last = config.first_seed + config.seeds - 1
    text = f"{config.algorithm} on {config.env}, seeds {config.first_seed} to {last}"
    return printable(text)


def _on_terminal() -> bool:
    return sys.stdout.isatty()
