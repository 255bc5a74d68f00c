"""What was found, as tables: on the terminal, and as the page docs/reproduction.md."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from freqdyna.experiments import reproduce
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.claims import RULES, Claim
from freqdyna.experiments.registry import PARTS, find

COLUMNS = ("what", "paper", "ours", "95% interval or accuracy", "verdict")

SEVERAL = 3
"""More units than this are counted rather than named."""


def print_findings(findings: Findings, quick: bool = False) -> None:
    """The claims as a table, the rules that decided them, and the notes."""
    findings = _of_size(findings, quick)
    table = Table(box=SIMPLE, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    for claim in findings.claims:
        table.add_row(*_cells(claim))
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(table)
    for rows in tables(findings):
        statistics = Table(box=SIMPLE, pad_edge=False)
        for column in rows[0]:
            statistics.add_column(column, overflow="fold")
        for row in rows[1:]:
            statistics.add_row(*row)
        console.print(statistics)
    for line in remarks(findings):
        console.print(f"- {line}", highlight=False, markup=False)


def print_list(out: Path, quick: bool = False) -> None:
    """Every part of the paper and its state."""
    for name, part in PARTS.items():
        print(f"  {name:3} {part.title:52} {_state(name, out, quick)}")


def page(out: Path, at: Path, quick: bool = False) -> str:
    """The page on what was reproduced, from what is stored in `out`; links are seen from `at`."""
    stored = [
        name
        for name, part in PARTS.items()
        if part.experiment and reproduce.is_stored(find(name), out, quick)
    ]
    size = " --quick" if quick else ""
    lines = [
        "# The paper, reproduced",
        "",
        f"Written by `freqdyna reproduce table{size} --out {out.as_posix()} --page "
        f"{at.as_posix()}` from the results stored there; nothing on this page is typed by hand.",
        "",
        "| part | what it is | state |",
        "|---|---|---|",
    ]
    for name, part in PARTS.items():
        linked = f"[{name}](#{name.lower()})" if name in stored else name
        state = "stored, below" if name in stored else _state(name, out, quick)
        lines.append(f"| {linked} | {part.title} | {state} |")
    for name in stored:
        lines += _section(name, out, at, quick)
    return "\n".join(lines) + "\n"


def damages(out: Path, quick: bool = False) -> list[str]:
    """A sentence for each experiment that cannot be shown because a file of it is damaged."""
    states = {name: _state(name, out, quick) for name, part in PARTS.items() if part.experiment}
    return [
        f"{name} is not shown; {state}"
        for name, state in states.items()
        if state.startswith("damaged")
    ]


def _section(name: str, out: Path, at: Path, quick: bool) -> list[str]:
    experiment = find(name)
    units = reproduce.stored(experiment, out, quick)
    findings = _of_size(experiment.analyse(units), quick)
    picture = os.path.relpath(out / name / reproduce.FIGURE, at.parent)
    header = ("what", "paper", "ours", "95% interval or accuracy", "holds?")
    return [
        "",
        f"## {name}",
        "",
        f"{PARTS[name].title[0].upper()}{PARTS[name].title[1:]}. `{_command(name, quick)}`",
        "",
        f"| {' | '.join(header)} |",
        "|---|---|---|---|---|",
        *(
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in _cells(c))} |"
            for c in findings.claims
        ),
        "",
        *(line for rows in tables(findings) for line in _markdown(rows)),
        *(f"- {line}" for line in [*remarks(findings), *origins(units)]),
        "",
        f"![{PARTS[name].title}]({Path(picture).as_posix()})",
    ]


def tables(findings: Findings) -> list[Sequence[Sequence[str]]]:
    """The tables of statistics that there are."""
    return [rows for rows in (findings.summary, *findings.further) if rows]


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, its header first, and an empty line."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:], ""]


def origins(units: dict[str, Stored]) -> list[str]:
    """Where the numbers of each unit come from."""
    groups: dict[tuple[str, str, str, str, str], list[tuple[str, dict[str, Any]]]] = {}
    for name, unit in units.items():
        p = unit.provenance
        where = f"{p['machine']} ({p['devices']} × {p['device_kind']})"
        key = (_since(p), where, p["date"][:10], str(p["commit"]), p["command"])
        groups.setdefault(key, []).append((name, p))
    return [_made(*key, members) for key, members in groups.items()]


def _made(
    since: str,
    where: str,
    date: str,
    commit: str,
    command: str,
    members: list[tuple[str, dict[str, Any]]],
) -> str:
    """How units that were made alike were made."""
    seconds = sorted(p["seconds"] for _, p in members)
    names = ", ".join(f"`{name}`" for name, _ in members)
    took = f"{seconds[0]} s"
    if len(members) > SEVERAL:
        names = f"{len(members)} trainings"
    if len(members) > 1:
        took = f"{seconds[0]} to {seconds[-1]} s each"
    return f"{names}: {took}{since} on {where}, {date}, commit {commit}, `{command}`."


def _since(provenance: dict[str, Any]) -> str:
    """What the seconds leave out, if they do."""
    if not provenance.get("resumed"):
        return ""
    earlier = provenance.get("earlier_commits")
    begun = f" (begun at commit {', '.join(map(str, earlier))})" if earlier else ""
    return f" since it was resumed{begun}"


def _cells(claim: Claim) -> Sequence[str]:
    return claim.what, claim.paper, claim.ours, claim.interval, claim.verdict


def remarks(findings: Findings) -> list[str]:
    """The rules that decided the claims, and the notes."""
    rules = dict.fromkeys(claim.rule for claim in findings.claims)
    return [f"Rule: {RULES[rule]}." for rule in rules] + list(findings.notes)


def _of_size(findings: Findings, quick: bool) -> Findings:
    """A quick run gives no verdicts: it is too small for them."""
    if not quick:
        return findings
    claims = [replace(claim, verdict="none: quick") for claim in findings.claims]
    return replace(findings, claims=claims)


def _command(name: str, quick: bool) -> str:
    return f"freqdyna reproduce {name}{' --quick' if quick else ''}"


def _state(name: str, out: Path, quick: bool) -> str:
    part = PARTS[name]
    if not part.experiment:
        return part.where or "not built yet"
    experiment = find(name)
    damaged = reproduce.damaged(experiment, out, quick)
    if damaged:
        listed = ", ".join(path.as_posix() for path in damaged)
        return f"damaged: {listed}; remove it to recompute it"
    if reproduce.is_stored(experiment, out, quick):
        return f"computed, in {out / name}"
    other = reproduce.is_stored_otherwise(experiment, out, quick)
    return f"{_command(name, quick)}{' (stored: another size)' if other else ''}"
