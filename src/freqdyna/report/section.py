"""The content of a report, in types that JSON can represent."""

from dataclasses import asdict, dataclass, field
from typing import Any

Json = dict[str, Any]
Table = list[list[str]]
"""Rows of cells, the header first."""


@dataclass(frozen=True)
class ClaimRow:
    """A claim and its verdict."""

    part: str
    what: str
    paper: str
    ours: str
    interval: str
    verdict: str
    own: bool
    """Whether the question is our own rather than the paper's."""


@dataclass(frozen=True)
class Section:
    """A figure with its claims, tables and notes."""

    name: str
    title: str
    command: str = ""
    """The command that computes the same numbers."""
    chart: Json | None = None
    claims: list[ClaimRow] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    """The provenance of the numbers: command, commit, machine, date."""


@dataclass(frozen=True)
class Report:
    """Everything that the page shows."""

    title: str
    command: str
    """The command that wrote the report."""
    written: str
    """When it was written, and by which version."""
    sections: list[Section]
    explorers: list[Json]

    def json(self) -> Json:
        """The report as nested dictionaries."""
        return asdict(self)
