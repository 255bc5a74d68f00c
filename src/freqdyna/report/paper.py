"""Sections from stored experiments of the paper, as `freqdyna reproduce` leaves them."""

from collections.abc import Iterator
from pathlib import Path

from freqdyna.experiments import reproduce
from freqdyna.experiments.claims import Claim
from freqdyna.experiments.registry import PARTS, find
from freqdyna.experiments.tables import origins, remarks, tables
from freqdyna.report.charts import as_json
from freqdyna.report.section import ClaimRow, Section


def stored_parts(folder: Path) -> list[str]:
    """The parts of the paper that a folder holds complete, at full size."""
    return [
        name
        for name, part in PARTS.items()
        if part.experiment and reproduce.is_stored(find(name), folder, quick=False)
    ]


def sections(folder: Path, parts: list[str]) -> Iterator[Section]:
    """What the stored numbers of each part show: they are analysed again, not recomputed."""
    for name in parts:
        experiment = find(name)
        units = reproduce.stored(experiment, folder, quick=False)
        findings = experiment.analyse(units)
        yield Section(
            name=name,
            title=PARTS[name].title[:1].upper() + PARTS[name].title[1:],
            command=f"freqdyna reproduce {name}",
            chart=as_json(findings.chart),
            claims=[
                ClaimRow(name, c.what, c.paper, c.ours, c.interval, c.verdict, _is_ours(name, c))
                for c in findings.claims
            ],
            tables=[[list(row) for row in rows] for rows in tables(findings)],
            notes=remarks(findings),
            origins=origins(units),
        )


def _is_ours(name: str, claim: Claim) -> bool:
    """Whether the paper does not claim it: a check of ours, or a comparison made beside its own."""
    return PARTS[name].title.startswith("ours") or claim.paper == "-" or "(ours)" in claim.paper
