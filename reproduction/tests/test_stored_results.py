import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from freqdyna.cli.main import main
from reproduction import registry, reproduce
from reproduction.parts.regression.regression import curves_by_setting

STORED = Path(__file__).parents[2] / "results" / "reproduce"


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [("E1", ["holds"] * 2), ("E2", ["holds"] * 2), ("U", [*["holds"] * 3, "does not hold"])],
)
def test_the_exact_statements(name, verdicts):
    findings = reproduce.analyse(registry.find(name), STORED)
    assert [claim.verdict for claim in findings.claims] == verdicts


def test_the_theorem_holds_where_f_vanishes_on_the_boundary_and_nowhere_else():
    claims = reproduce.analyse(registry.find("T1"), STORED).claims
    verdicts = {claim.what: claim.verdict for claim in claims}
    assert len(verdicts) == 12
    for what, verdict in verdicts.items():
        exact = "f and ∇f vanish" in what or ("first order" in what and "∇f does not" in what)
        assert verdict == ("holds" if exact else "does not hold"), what


def test_the_papers_shares_are_within_sampling_error():
    claims = reproduce.analyse(registry.find("F2"), STORED).claims
    shares = [claim for claim in claims if claim.rule == "sampling"]
    assert [claim.paper for claim in shares] == ["65.35%", "68.97%", "18.17%", "27.45%"]
    assert {claim.verdict for claim in shares} == {"holds"}


def test_the_unbiased_runs_of_f1_and_f2_are_the_same():
    """As F2's note says."""
    found = [
        curves_by_setting(reproduce.stored(registry.find(name), STORED)["curves"].columns)[1]
        for name in ("F1", "F2")
    ]
    np.testing.assert_array_equal(found[0]["Unbiased"], found[1]["Unbiased"])
    note = reproduce.analyse(registry.find("F2"), STORED).notes[-1]
    assert f"The {len(found[0]['Unbiased'])} runs of Unbiased are the same as in F1" in note
    assert "therefore not independent" in note


@pytest.mark.parametrize("name", ["E1", "E2", "T1", "U", "F1", "F2", "A1", "B", "D"])
def test_what_is_stored_comes_from_a_commit(name):
    parts = ("B", "D") if name == "D" else (name,)  # D also uses the values of B
    out = "runs" if name in ("B", "D") else "results"
    for unit in reproduce.stored(registry.find(name), STORED).values():
        assert len(unit.provenance["commit"]) == 40
        commands = [f"freqdyna reproduce {part} --out {out}/reproduce" for part in parts]
        assert unit.provenance["command"] in commands
        assert not unit.provenance["resumed"]


@pytest.mark.parametrize("name", ["F3", "F4", "F5", "F6", "F8", "X1", "S", "R"])
def test_trainings_are_of_the_papers_size_and_come_from_a_commit(name):
    for unit in reproduce.stored(registry.find(name), STORED).values():
        assert unit.settings["steps"] in (50_000, 100_000)
        assert unit.settings["seeds"] >= (10 if name == "S" else 30)
        assert len(unit.provenance["commit"]) == 40
        assert unit.provenance["command"]


def test_dyna_frequency_is_ahead_in_every_setting_of_f3():
    """On the page, which another test compares with the stored results."""
    page = (STORED.parents[1] / "docs" / "reproduction.md").read_text()
    ahead = re.findall(r"^\| Dyna-Frequency − \S+, area, d = \d+, σ = .* \| (.*) \|$", page, re.M)
    assert ahead == ["holds"] * 12


def test_the_table_of_b_has_the_intervals_that_decide():
    """The widest ends of a row's intervals are those of its claim, on the same page."""
    page = (STORED.parents[1] / "docs" / "reproduction.md").read_text().split("\n## B\n")[1]
    number = r"([+-]\d\.\d\d)"
    interval = rf"\[{number}, {number}\]"
    claims = re.findall(rf"^\| \S+: rank correlation of g, .*within {interval}", page, re.M)
    rows = re.findall(rf"^\| \S+ \| [^|]* ((?:\| {number} \[.*?\] ){{4}})\|$", page, re.M)
    ends = [re.findall(interval, cells) for cells, _ in rows]
    assert len(claims) == len(ends) == 8
    for claim, row in zip(claims, ends, strict=True):
        lows, highs = zip(*row, strict=True)
        assert claim == (min(lows, key=float), max(highs, key=float))


def test_the_readme_names_what_is_stored():
    text = (STORED.parents[1] / "README.md").read_text()
    lines = text.splitlines()
    first = lines.index("| | parts, stored here |")
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[first + 2 :])
    named = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
    experiments = sorted(name for name, part in registry.PARTS.items() if part.experiment)
    stored = [n for n in experiments if reproduce.is_stored(registry.find(n), STORED)]
    assert named == stored
    later = re.findall(r"`(\w+)`, our comparison of search-controls, .* is not stored yet", text)
    assert sorted(stored + later) == experiments


def test_the_list_says_how_much_of_a_part_is_stored(tmp_path, capsys):
    units = registry.find("C").units(False)
    (tmp_path / "trainings").mkdir()
    for unit in units[:2]:
        file = f"trainings/{unit.name}.parquet"
        shutil.copy(STORED / file, tmp_path / file)
    main(["reproduce", "list", "--out", str(tmp_path)])
    assert f" 2 of {len(units)} trainings computed, in" in capsys.readouterr().out
