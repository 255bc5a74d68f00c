"""The contract of an experiment: units of work that are stored, and an analysis of what is stored.

The analysis sees nothing but what is stored, so that a result can be looked at again, and the
report be written, without computing anything twice.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.tables import Columns as Columns
from freqdyna.experiments.claims import Claim
from freqdyna.results.chart import Chart
from freqdyna.results.record import Record
from freqdyna.training.progress import Display, Silent


@dataclass(frozen=True)
class Work:
    """What a unit is given to work with."""

    folder: Path
    """For files that let an interrupted unit resume; it may hold those of an earlier attempt.

    What it resumes from is called `checkpoint` and something: by it a resumed unit is known.
    """
    report: Callable[..., None]
    """Called with how much is done of how much, and perhaps a text."""
    stop_requested: threading.Event
    """Set when the user asks to stop: save what is needed to resume, raise KeyboardInterrupt."""
    display: Display = field(default_factory=Silent)
    """For a training, which tells more than `report` takes."""


@dataclass(frozen=True)
class Unit:
    """One piece of work: a training, or a small table."""

    name: str
    settings: dict[str, Any]
    """All that decides the numbers, as JSON can hold it; what is stored must agree with it."""
    compute: Callable[[Work], Columns | Record]
    saves: bool = False
    """Whether it looks at `stop_requested`; if not, it is stopped at once and restarted later."""
    folder: str = ""
    """Where it is stored if several experiments share it; empty: in its experiment's folder."""
    meaning: Callable[[dict[str, Any]], Any] = dict
    """What settings mean: stored ones that mean the same as `settings` are the same unit's."""

    def is_made_with(self, settings: dict[str, Any]) -> bool:
        """Whether a file with these settings is this unit's."""
        try:
            return bool(self.meaning(settings) == self.meaning(self.settings))
        except FreqdynaError:  # no settings at all
            return False


@dataclass(frozen=True)
class Stored:
    """What a unit left behind."""

    columns: Columns
    """Its table; of a training, a row for each seed and evaluation."""
    settings: dict[str, Any]
    provenance: dict[str, Any]
    """Command, commit, versions, machine, date and seconds."""
    record: Record | None = None
    """The training, if the unit is one."""


@dataclass(frozen=True)
class Findings:
    """What the stored numbers show."""

    chart: Chart
    claims: Sequence[Claim]
    summary: Sequence[Sequence[str]] = field(default=())
    """A table of statistics, its header first; may be empty."""
    notes: Sequence[str] = field(default=())
    """Sentences for the report: choices that the paper leaves open, and what to read with care."""
    further: Sequence[Sequence[Sequence[str]]] = field(default=())
    """More tables, as `summary`."""


@dataclass(frozen=True)
class Experiment:
    """One figure or statement of the paper."""

    name: str
    duration: str
    """How long the full size takes, in words."""
    units: Callable[[bool], list[Unit]]
    """The units of work; given True, those of a smoke run of under a minute."""
    analyse: Callable[[dict[str, Stored]], Findings]
    """From stored units by name."""
