"""What a report consists of, as JSON can hold it."""

from dataclasses import asdict, dataclass, field
from typing import Any

Json = dict[str, Any]
Table = list[list[str]]
"""Rows of cells, the header first."""


@dataclass(frozen=True)
class ClaimRow:
    """A claim and what became of it."""

    part: str
    what: str
    paper: str
    ours: str
    interval: str
    verdict: str
    own: bool
    """Whether the question is ours rather than the paper's."""


@dataclass(frozen=True)
class Section:
    """A figure with all that belongs to it."""

    name: str
    title: str
    command: str = ""
    """What makes the same numbers."""
    chart: Json | None = None
    claims: list[ClaimRow] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    """Where the numbers come from: command, commit, machine, date."""


@dataclass(frozen=True)
class Report:
    """All that the page shows."""

    title: str
    command: str
    """What wrote the report."""
    written: str
    """When, and by which version."""
    sections: list[Section]
    explorers: list[Json]

    def json(self) -> Json:
        """As nested dictionaries."""
        return asdict(self)
