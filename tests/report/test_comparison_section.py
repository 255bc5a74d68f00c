"""The section of the report that compares runs."""

from dataclasses import replace

import numpy as np
from conftest import gathered
from hand_made import result

from freqdyna.report.runs import comparison_section
from freqdyna.results.imports import import_curves


def runs(number, **settings):
    return [result(np.full((3, 4), float(i)), algorithm=f"a{i}", **settings) for i in range(number)]


def test_it_has_tables_of_each_environment_and_of_their_average():
    found = comparison_section(runs(2) + runs(2, env="DynaMaze"), ["here"] * 4)
    assert [table[0][0] for table in found.tables] == ["environment"] * 4 + ["run"]
    assert [table[1][0] for table in found.tables[:4]] == ["GridWorld"] * 2 + ["DynaMaze"] * 2
    assert len(found.chart["panels"]) == 4
    assert found.command == "freqdyna compare here"
    assert any("no difference can be shown" in note for note in found.notes)


def test_what_cannot_be_compared_is_named():
    assert comparison_section(runs(1), ["here"]) is None
    many = comparison_section(runs(11), ["here"] * 11)
    assert "11 runs are too many for a table of all pairs" in many.notes[0]
    first, second = runs(2)
    later = comparison_section([first, replace(second, steps=second.steps + 100)], ["here"] * 2)
    assert later.notes[0].startswith("Not compared: the runs have no common steps")


def test_imported_curves_are_shown_with_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ppo.csv").write_text("seed,step,return\n0,10,1\n1,10,2\n")
    import_curves("ppo.csv", env="GridWorld", out="ppo")
    result([[1.0], [2.0]], learning_rate=0.1).save("er")
    report = gathered("ppo", "er")
    curves, compared = report.sections  # imported curves have no settings that could be varied
    assert curves.origins[0].startswith("ppo (imported): `ppo`, imported from ppo.csv (CSV) on 20")
    assert [row[2] for row in compared.tables[0][1:]] == ["ppo (imported)", "er"]
