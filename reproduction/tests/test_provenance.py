"""What results/README.md says about the origin of the stored trainings is what their files say."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pyarrow.parquet
import pytest

from reproduction import registry
from reproduction.store import TRAININGS

RESULTS = Path(__file__).parents[2] / "results"
TEXT = (RESULTS / "README.md").read_text()
HEADER = "| commit | date | machine | trainings | seeds of each | used by | time |\n"
DEVICES = {"NVIDIA H200": "H200", "cpu": "2-core CPU"}


@cache
def files():
    """Metadata and column names of every training by its name; the tables are not read."""
    found = {}
    for path in (RESULTS / "reproduce" / TRAININGS).glob("*.parquet"):
        of_file = pyarrow.parquet.read_metadata(path)
        kept = of_file.metadata
        facts = json.loads(kept.get(b"freqdyna.facts") or kept[b"freqdyna"])
        found[path.stem] = facts, of_file.schema.names
    return found


@cache
def used_by():
    """The parts that use each training."""
    found = {}
    for name, part in registry.PARTS.items():
        for unit in part.experiment.units(False) if part.experiment else ():
            if unit.folder == TRAININGS:
                found.setdefault(unit.name, []).append(name)
    return found


def rows():
    """The cells of the table by commit."""
    lines = TEXT.split(HEADER)[1].split("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {commit: others for commit, *others in cells}


def test_every_commit_is_in_the_table():
    commits = Counter(facts["provenance"]["commit"][:7] for facts, _ in files().values())
    assert {commit: int(cells[2]) for commit, cells in rows().items()} == commits
    assert f"contains the {len(files())} trainings" in TEXT


@pytest.mark.parametrize("commit", rows())
def test_a_row_says_what_the_files_of_its_commit_say(commit):
    of_commit = {
        name: facts
        for name, (facts, _) in files().items()
        if facts["provenance"]["commit"].startswith(commit)
    }
    date, machine, _, seeds, parts, _ = rows()[commit]
    origins = [facts["provenance"] for facts in of_commit.values()]
    assert {origin["date"][:10] for origin in origins} == {date}
    assert {DEVICES[origin["device_kind"]] for origin in origins} == {machine}
    counted = Counter(facts["settings"]["seeds"] for facts in of_commit.values())
    assert seeds == ", ".join(f"{n} ({count})" for n, count in sorted(counted.items())[::-1])
    used = Counter(part for name in of_commit for part in used_by()[name])
    assert parts == ", ".join(f"{part} {count}" for part, count in sorted(used.items()))


def test_how_many_trainings_record_divergence():
    recorded = sum("diverged_at" in columns for _, columns in files().values())
    count, total, others = map(
        int, re.search(r"(\d+) of the (\d+) trainings .*The other (\d+)", TEXT, re.S).groups()
    )
    assert (count, total, others) == (recorded, len(files()), len(files()) - recorded)


def test_the_table_of_the_explorer_says_what_its_runs_say():
    lines = TEXT.split("| runs | commit | date | time |\n")[1].split("\n\n")[0].splitlines()[1:]
    told = {}
    for line in lines:
        runs, commit, date, _ = (cell.strip() for cell in line.strip("|").split("|"))
        told |= dict.fromkeys(re.findall(r"`([\w-]+)`", runs), (commit, date))
    stored = {}
    for path in (RESULTS / "explorer").glob("*/provenance.json"):
        facts = json.loads(path.read_text())
        assert facts["command"].endswith(f"--out results/explorer/{path.parent.name}")
        assert not facts["commit"].endswith("-dirty")
        stored[path.parent.name] = facts["commit"][:7], facts["date"][:10]
    assert told == stored
