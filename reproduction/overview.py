"""All claims in one minute: a row for each statement, with the verdicts of its claims."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from freqdyna.core.errors import FreqdynaError
from reproduction import reproduce
from reproduction.claims import Claim, Verdict
from reproduction.diverged_seeds import findings_of
from reproduction.registry import PARTS
from reproduction.statements import MAIN, STATEMENTS

OWN = "own check"
MIXED, NOT_SUPPORTED = "mixed", "not supported"
ORDER = ("holds", "depends", MIXED, "undecided", NOT_SUPPORTED, "does not hold")
"""The verdicts in the order of the table."""
PLURALS = {"holds": "hold", "does not hold": "do not hold", "depends": "depend"}
"""Verdicts of several claims, where the words differ."""
BOTH = 2


@dataclass(frozen=True)
class Row:
    """A statement and what was found."""

    part: str
    statement: str
    own: bool
    """Whether the question is our own rather than the paper's."""
    verdict: str
    """One of ORDER: that of all claims of the statement, if they agree."""
    details: str
    """How many claims there are, and which interpretations differ."""


def is_own(part: str, claim: Claim) -> bool:
    """Whether the paper does not claim it: one of our own checks or additional comparisons."""
    return PARTS[part].title.startswith(OWN) or claim.paper == "-" or OWN in claim.paper


def rows_of(part: str, claims: Iterable[Claim]) -> list[Row]:
    """One row for each statement of a part, and for each claim that no statement describes."""
    found: dict[tuple[str, bool], list[Claim]] = {}
    for claim in claims:
        statement, reading = _statement(part, claim.what)
        if reading:
            claim = replace(claim, by_reading={reading: claim.verdict})
        found.setdefault((statement, is_own(part, claim)), []).append(claim)
    return [Row(part, text, own, *_summed(group)) for (text, own), group in found.items()]


def _statement(part: str, what: str) -> tuple[str, str]:
    """The statement that a claim belongs to, and the interpretation that it is about, if any."""
    for pattern, text in STATEMENTS.get(part, {}).items():
        match = re.search(pattern, what)
        if match:
            return text, match.groupdict().get("reading", "")
    return what, ""


def _summed(claims: Sequence[Claim]) -> tuple[str, str]:
    """The verdict and the details of a row."""
    verdicts = {claim.verdict for claim in claims}
    by_reading: dict[str, list[Verdict]] = {}
    for claim in claims:
        for reading, verdict in claim.by_reading.items():
            by_reading.setdefault(reading, []).append(verdict)
    outcomes = {reading: _counted(found) for reading, found in by_reading.items()}
    if "depends" in verdicts or len(set(outcomes.values())) > 1:
        counted = _counted([claim.verdict for claim in claims])
        single = {one for verdicts in by_reading.values() for one in verdicts}
        unsupported = single == {"undecided", "does not hold"}
        verdict_of_row = NOT_SUPPORTED if unsupported else "depends"
        return verdict_of_row, _by_outcome(outcomes) if outcomes else counted
    details = []
    if len(verdicts) > 1:
        details.append(_counted([claim.verdict for claim in claims]))
    elif len(claims) > 1 and max(map(len, by_reading.values()), default=len(claims)) > 1:
        details.append(f"{len(claims)} claims")
    if len(outcomes) > 1:
        number = "both" if len(outcomes) == BOTH else str(len(outcomes))
        details.append(f"{number} interpretations")
    return next(iter(verdicts)) if len(verdicts) == 1 else MIXED, ", ".join(details)


def _counted(verdicts: Sequence[Verdict]) -> str:
    """One verdict, or how many claims have which, such as "3 hold, 1 undecided"."""
    if len(verdicts) == 1:
        return verdicts[0]
    numbers = Counter(verdicts)
    ordered = sorted(numbers, key=ORDER.index)
    return ", ".join(f"{numbers[v]} {PLURALS.get(v, v) if numbers[v] > 1 else v}" for v in ordered)


def _by_outcome(outcomes: dict[str, str]) -> str:
    """Which interpretations lead to which outcome, the most common one last."""
    groups: dict[str, list[str]] = {}
    for reading, outcome in outcomes.items():
        groups.setdefault(outcome, []).append(reading)
    if len(groups) == 1:
        return f"{next(iter(groups))} under each interpretation, but not the same ones"
    *rare, (usual, others) = sorted(groups.items(), key=lambda group: len(group[1]))
    listed = [f"{outcome} ({'; '.join(readings)})" for outcome, readings in rare]
    last = "; ".join(others) if len(others) == 1 else f"the other {len(others)}"
    return "; ".join([*listed, f"{usual} ({last})"])


def tables(out: Path) -> str:
    """Tables in Markdown: the main claims, all claims of the paper, and our own questions.

    Args:
        out: The folder with the stored results.

    Returns:
        The text; parts link to the page that `reproduction.tables.page` writes.

    """
    rows: list[Row] = []
    others = []
    for name, part in PARTS.items():
        if part.experiment is None:
            others.append(f"{name}, {part.title}: {part.where}")
        elif not reproduce.is_stored(part.experiment, out):
            others.append(f"{name}, {part.title}: not stored")
        else:
            units = reproduce.stored(part.experiment, out)
            rows += rows_of(name, findings_of(part.experiment, units).claims)
    places = {statement: place for place, statement in enumerate(MAIN)}
    main = sorted((r for r in rows if r.statement in places), key=lambda r: places[r.statement])
    main = [replace(r, statement=f"our question: {r.statement}") if r.own else r for r in main]
    lines = [
        *_table("main claims", main),
        "",
        "## All claims",
        "",
        *_table("claim of the paper", _by_verdict(row for row in rows if not row.own)),
        "",
        *_table("our own question", _by_verdict(row for row in rows if row.own)),
        "",
        "Not in these tables:",
        "",
        *(f"- {other}" for other in others),
    ]
    return "\n".join(lines) + "\n"


def _by_verdict(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: ORDER.index(row.verdict))


def _table(header: str, rows: Sequence[Row]) -> list[str]:
    return [
        f"| {header} | part | verdict | number of claims, interpretations |",
        "|---|---|---|---|",
        *map(_line, rows),
    ]


def _line(row: Row) -> str:
    statement, link = row.statement.replace("|", "\\|"), f"reproduction.md#{row.part.lower()}"
    return f"| {statement} | [{row.part}]({link}) | {row.verdict} | {row.details} |"


def lines_of(name: str) -> tuple[str, str]:
    """The lines of a page between which tables are."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def replaced(page: str, text: str, name: str = "overview") -> str:
    """A page with other tables between the lines of this name.

    Raises:
        FreqdynaError: If the page does not have both lines.

    """
    first, last = lines_of(name)
    before, begin, rest = page.partition(f"{first}\n")
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise FreqdynaError(f"the page has no lines {first!r} and {last!r} for the tables")
    return f"{before}{begin}{text}{end}{after}"
