"""The interface of an experiment: units of work that are stored, and an analysis of them.

The analysis only uses what is stored, so that results can be analysed again, and reports written,
without recomputing anything.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.tables import Columns as Columns
from freqdyna.results.chart import Chart
from freqdyna.results.record import Record
from freqdyna.training.progress import Display
from reproduction.claims import Claim


@dataclass(frozen=True)
class Work:
    """What a unit can use while it is computed."""

    folder: Path
    """For files from which an interrupted unit can resume; it may contain those of an earlier
    attempt. Their names must start with `checkpoint`, by which resumed units are recognised."""
    report: Callable[..., None]
    """Called with the amount done, the total amount, and optionally a text."""
    stop_requested: threading.Event
    """Set when the user interrupts: save the state for resuming and raise KeyboardInterrupt."""
    display: Display = field(default_factory=lambda: Display(shown=False))
    """For warnings of a training."""


@dataclass(frozen=True)
class Unit:
    """One piece of work: a training, or a small table."""

    name: str
    settings: dict[str, Any]
    """Everything that affects the numbers, in types that JSON can represent; a stored file must
    have the same settings."""
    compute: Callable[[Work], "Columns | Record | list[Record]"]
    saves: bool = False
    """Whether it checks `stop_requested`; if not, it is stopped immediately and restarted later."""
    folder: str = ""
    """Where it is stored if several experiments share it; empty for the experiment's folder."""
    meaning: Callable[[dict[str, Any]], Any] = dict
    """Converts settings to a form in which equivalent settings are equal."""
    members: tuple["Unit", ...] = ()
    """The trainings that it computes together, if it is not one itself; `compute` then returns
    their records in this order, and only these are stored."""
    optional: bool = False
    """Whether the analysis can do without it; the findings then say that it is not stored."""

    def is_made_with(self, settings: dict[str, Any]) -> bool:
        """Whether a file with these settings belongs to this unit."""
        if repr(settings) == repr(self.settings):  # of nearly all files, and faster to see
            return True
        try:
            return bool(self.meaning(settings) == self.meaning(self.settings))
        except FreqdynaError:  # invalid settings
            return False


@dataclass(frozen=True)
class Stored:
    """A stored unit."""

    columns: Columns
    """Its table; for a training, one row per seed and evaluation."""
    settings: dict[str, Any]
    provenance: dict[str, Any]
    """Command, commit, versions, machine, date and seconds."""
    record: Record | None = None
    """The training, if the unit is one."""


@dataclass(frozen=True)
class Findings:
    """The result of an analysis."""

    chart: Chart
    claims: Sequence[Claim]
    summary: Sequence[Sequence[str]] = field(default=())
    """A table of statistics, the header first; may be empty."""
    notes: Sequence[str] = field(default=())
    """Sentences about open choices of the paper, and about the interpretation of the results."""
    further: Sequence[Sequence[Sequence[str]]] = field(default=())
    """More tables like `summary`."""


@dataclass(frozen=True)
class Experiment:
    """One figure or statement of the paper."""

    name: str
    duration: str
    """The duration at full size, as text."""
    units: Callable[[bool], list[Unit]]
    """The units of work; with True, those of a quick run of less than a minute."""
    analyse: Callable[[dict[str, Stored]], Findings]
    """From stored units by name to findings."""
    measured: Sequence[Unit] = ()
    """Units that another command stores and that the analysis can do without, such as times."""
