"""Hyper-parameter search: deterministic, resumable, several trials in one program."""

import numpy as np
import pytest
from conftest import TEXT, tables

from freqdyna.engines.local import Local
from freqdyna.errors import FreqdynaError
from freqdyna.sweeps.place import Place
from freqdyna.sweeps.search import batches, found, known_units, search
from freqdyna.sweeps.sweep import Sweep

SEARCH = """
[search]
trials = 4
together = 2

[search.space]
learning_rate = {low = 0.0001, high = 0.1, log = true}
exploration = {low = 0.0, high = 0.5}
"""
VARY = "[vary]\nlearning_rate = [0.001, 0.003]\n"


def text_of(search_table):
    return TEXT.replace(VARY, search_table).replace("12_000", "600").replace("3_000", "300")


def test_a_search_is_the_same_wherever_it_runs_and_goes_on(tmp_path):
    text = text_of(SEARCH)
    sweep = Sweep.parse(text)
    one, two = Place(str(tmp_path / "one")), Place(str(tmp_path / "two"))
    trials = search(text, sweep, one, Local(1))
    assert len(trials) == 4
    assert len({settings["learning_rate"] for settings, _ in trials}) == 4
    assert len(tables(tmp_path / "one")) == 8  # 4 trials of 2 blocks of one seed
    next(batches(sweep, two))
    fewer = Sweep.parse(text.replace("trials = 4", "trials = 2"))
    search(text, fewer, two, Local(2))
    assert search(text, sweep, two, Local(2)) == trials == found(sweep, two)
    assert {unit.name for unit in known_units(sweep, two)} == set(tables(tmp_path / "two"))
    for name, table in tables(tmp_path / "one").items():
        again = tables(tmp_path / "two")[name]
        np.testing.assert_array_equal(table["return"], again["return"])


def test_trials_of_one_form_are_one_program():
    text = text_of(SEARCH + "batch_size = {choices = [4, 8]}\n").replace("batch_size = 4\n", "")
    text = text.replace("together = 2", "together = 4")
    programs = next(batches(Sweep.parse(text), Place("memory://nothing")))
    sizes = [{unit.config.batch_size for unit in program} for program in programs]
    assert all(len(of_one) == 1 for of_one in sizes)
    assert sum(len(program) for program in programs) == 8
    assert all(unit.together == len(program) for program in programs for unit in program)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("trials = 4", "trials = 0"), r"trials in \[search\] is 0; it must be a whole number"),
        (("together = 2", 'objective = "best"'), r"objective in \[search\] is 'best'; it must be"),
        (("together = 2", "parallel = 3"), r"unknown setting of \[search\] 'parallel'"),
        (("0.0001", "0.0"), r"learning_rate in \[search.space\] is .* it must be \{low"),
        (("high = 0.5", "high = 1.5"), "exploration is 1.5; it must be between 0 and 1"),
        (("exploration =", "exploratio ="), "unknown setting 'exploratio'"),
        (("exploration =", "hidden ="), "hidden cannot be searched: it is set"),
        (("[search]", "[vary]\nmodel = ['true']\n[search]"), "leave one away"),
    ],
)
def test_bad_searches_are_refused(change, message):
    with pytest.raises(FreqdynaError, match=message):
        Sweep.parse(text_of(SEARCH).replace(*change))
