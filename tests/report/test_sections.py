"""What a report says about runs, sweeps and searches, on curves without training."""

import json
from dataclasses import replace

import numpy as np
from hand_made import Instant, result
from small import SWEEP

from freqdyna.report import page
from freqdyna.report.answer import answer_section
from freqdyna.report.runs import (
    comparison_of,
    comparison_section,
    curves_section,
    sensitivity_section,
    settings_section,
)
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.load import find
from freqdyna.sweeps.search import search
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep

RATE = "learner.learning_rate"


def runs(number, **settings):
    """Runs that differ in the learning rate."""
    rates = [{RATE: 0.01 * (i + 1)} for i in range(number)]
    return [result(np.full((3, 4), 1.0 * i), **rate, **settings) for i, rate in enumerate(rates)]


def report_of(*locations):
    """The sections of a report, by name."""
    trainings = [training for location in locations for training in find(location)]
    sources, results, trials = zip(*trainings, strict=True)
    content = page.report(results, sources, "freqdyna report", None, trials)
    return {section.name: section for section in content.sections}


def test_every_run_is_compared_with_one_baseline_in_its_environment():
    sources = ["here"] * 12
    comparison = comparison_of(runs(10) + runs(2, env="PuddleWorld"), sources)
    section = comparison_section(comparison, sources)
    assert len(section.chart["panels"]) == 4
    sizes = [len(table) - 1 for table in section.tables.values()]
    assert sizes == [10, 9, 2, 1]  # runs and differences of each
    assert list(section.tables.values())[1][1][0] == "2 − 1"
    third = comparison_section(comparison_of(runs(4), sources[:4], "3"), sources[:4], "3")
    differences = list(third.tables.values())[1]
    assert [row[0][0] for row in differences[1:]] == ["1", "2", "4"]


def test_runs_that_cannot_be_compared_leave_a_note():
    assert comparison_section(comparison_of(runs(1), ["here"]), ["here"]) is None
    first, second = runs(2)
    apart = [first, replace(second, steps=second.steps + 100)]
    later = comparison_section(comparison_of(apart, ["here"] * 2), ["here"] * 2)
    assert (later.tables, len(later.notes)) == ({}, 1)


def test_the_first_section_says_which_run_is_better_and_what_it_cost():
    low, high = (
        result(np.full((8, 4), value) + np.arange(8)[:, None], **{RATE: 0.01 * value + 0.01})
        for value in (0.0, 100.0)
    )
    high = replace(high, metrics=high.metrics | {"seconds": np.full((8, 4), 7.0)})
    both = [low, high]
    section = answer_section(both, ["a", "b"], comparison_of(both, ["a", "b"]))
    assert "decidedly higher" in section.lead[0]
    ((header, first, second),) = section.tables.values()
    assert (first[header.index("mean is")], second[header.index("mean is")]) == ("–", "higher")
    assert (first[-1], second[-1]) == ("–", "7")
    alone = answer_section([low], ["a"], None)
    assert (alone.lead, len(next(iter(alone.tables.values())))) == ([], 2)


def test_of_many_runs_the_first_section_has_the_best():
    many = runs(14)
    section = answer_section(many, ["here"] * 14, comparison_of(many, ["here"] * 14))
    (rows,) = section.tables.values()
    assert [row[2] for row in rows[1:]] == [f"{value:.1f}" for value in range(13, 1, -1)]


def test_settings_that_differ_are_listed():
    several = runs(2, **{"learner.hidden": (4, 4)})
    (table,) = settings_section([*several, result(np.ones((3, 4)), **{RATE: 0.02})]).tables.values()
    assert table[0][1:] == ["learner.hidden", RATE]
    assert [row[1:] for row in table[1:]] == [["4 4", "0.01"], ["4 4", "0.02"], ["128 128", "0.02"]]
    assert settings_section(several[:1]) is None


def test_a_sweep_is_described_by_what_it_varies(tmp_path):
    text = SWEEP.replace("0.003", "0.01")
    execute_sweep(Sweep.parse(text), Storage(str(tmp_path)), Instant())
    sections = report_of(tmp_path.as_uri())
    assert list(sections) == ["answer", "runs", "settings", "comparison", "sensitivity"]
    assert len(sections["runs"].origins) == 1
    (panel,) = sections["sensitivity"].chart["panels"]
    assert panel["x"]["log"]
    (mark,) = panel["marks"]
    assert mark["x"] == [0.001, 0.01]
    np.testing.assert_allclose(mark["seeds"], [[0.1, 1.0], [1.1, 2.0]])


def test_the_best_trials_of_a_search_come_first(tmp_path):
    space = "[search]\ntrials = 4\ntogether = 4\n[search.space]\n"
    space += "batch_size = {choices = [4, 8]}\nlearner.learning_rate = {low = 0.001, high = 0.1}\n"
    text = SWEEP.replace("[vary]\nlearner.learning_rate = [0.001, 0.003]\n", space)
    text = text.replace("batch_size = 4\n", "")
    trials = search(Sweep.parse(text), Storage(str(tmp_path)), Instant())
    done = [number for number, trial in enumerate(trials) if trial.state == "done"]
    assert 1 < len(done) < 4
    sections = report_of(tmp_path)
    assert "comparison" not in sections  # trials are chosen by their return
    (table,) = sections["trials"].tables.values()
    best = sorted(done, key=lambda number: -trials[number].value)
    assert [row[0] for row in table[1:]] == [str(number) for number in best]
    rates = [f"{trials[number].settings['learner.learning_rate']:.4g}" for number in best]
    assert [row[-1] for row in table[1:]] == rates


def test_a_value_without_a_complete_seed_does_not_hide_the_others():
    far, close, lost = [-30.0, -30.0, -30.0], [-30.0, -20.0, -10.0], [np.nan] * 3
    good = [result([far, close], warmup_steps=10, **{RATE: rate}) for rate in (0.001, 0.01)]
    section = sensitivity_section([*good, result([lost, lost], warmup_steps=10, **{RATE: 1e25})])
    (panel,) = section.chart["panels"]
    assert panel["marks"][0]["seeds"] == [[-30, -30], [-15, -15]]  # after the warm-up
    partly = result([far, lost], warmup_steps=10, **{RATE: 1.0})
    json.dumps(curves_section([partly], ["there"]).chart, allow_nan=False)
