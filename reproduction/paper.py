"""Sections for the stored experiments of the paper, as written by `freqdyna reproduce`."""

from collections.abc import Iterator
from pathlib import Path

from freqdyna.report.charts import as_json
from freqdyna.report.section import ClaimRow, Section
from reproduction import reproduce
from reproduction.overview import is_own
from reproduction.registry import PARTS, find
from reproduction.tables import origins, remarks, tables


def stored_parts(folder: Path) -> list[str]:
    """The parts of the paper that can be analysed, at full size, from what a folder stores."""
    return [
        name
        for name, part in PARTS.items()
        if part.experiment and reproduce.is_stored(find(name), folder, quick=False)
    ]


def sections(folder: Path, parts: list[str]) -> Iterator[Section]:
    """The analysis of the stored numbers of each part; nothing is recomputed."""
    for name in parts:
        experiment = find(name)
        units = reproduce.stored(experiment, folder, quick=False)
        findings = reproduce.findings(experiment, units)
        yield Section(
            name=name,
            title=PARTS[name].title[:1].upper() + PARTS[name].title[1:],
            command=f"freqdyna reproduce {name}",
            chart=as_json(findings.chart),
            claims=[
                ClaimRow(name, c.what, c.paper, c.ours, c.interval, c.verdict, is_own(name, c))
                for c in findings.claims
            ],
            tables=[[list(row) for row in rows] for rows in tables(findings)],
            notes=remarks(findings),
            origins=origins(units),
        )
