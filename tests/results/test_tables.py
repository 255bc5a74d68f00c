"""The table and the figure of a comparison."""

import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from hand_made import result

from freqdyna import FreqdynaError
from freqdyna.results.compare import compare_runs
from freqdyna.results.plot import comparison_chart
from freqdyna.results.tables import as_csv, as_latex


@pytest.fixture(scope="module")
def comparison():
    generator = np.random.default_rng(0)
    runs = [result(generator.normal(10 * i, 1, (12, 6))) for i in range(3)]
    names = ["first_one", "a name that is " + "long " * 20, "100% [third]"]
    return compare_runs(runs, names, all_pairs=True)


def test_the_table_fits_into_80_columns(comparison, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = str(comparison)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert "GridWorld: mean return, steps 10 to 60 (6 evaluations)" in text
    for part in ("2 − 1", "3 − 1", "3 − 2", "higher", "(12 of 12)"):
        assert part in text
    assert "[1.00, 1.00]" not in text  # all seeds of one run are above all of the other
    assert text.count("undecided") == 1  # in the explanation


def test_the_csv_file_has_the_numbers(comparison):
    rows = list(csv.DictReader(io.StringIO(as_csv(comparison))))
    assert len(rows) == 3
    pair = comparison.pairs[1]
    assert (rows[1]["first"], rows[1]["second"]) == ("100% [third]", "first_one")
    assert float(rows[1]["mean_difference"]) == pytest.approx(pair.mean_difference.value)
    assert float(rows[1]["p_holm"]) == pytest.approx(pair.corrected_p)
    assert float(rows[1]["first_mean_low"]) == pytest.approx(pair.first.mean.interval[0])
    assert rows[1]["first_seeds"] == "12"
    assert rows[1]["probability_of_improvement"] == "1"
    assert rows[1]["probability_of_improvement_low"] == ""


def test_names_are_escaped_for_latex(comparison):
    text = as_latex(comparison)
    assert r"3 & 100\% {[}third] & 12 &" in text
    assert r"1 & first\_one & 12 &" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\bottomrule") == 2
    assert r"2 $-$ 1 & " in text


def test_files_are_written_by_their_endings(comparison, tmp_path):
    comparison.save_table(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == as_csv(comparison)
    comparison.save_table(tmp_path / "table.tex")
    text = as_latex(comparison)
    assert (tmp_path / "table.tex").read_text() == text
    with pytest.raises(FreqdynaError, match=r"must end in \.csv or \.tex"):
        comparison.save_table(tmp_path / "table.txt")
    with pytest.raises(FreqdynaError, match="which cannot be written"):
        comparison.save_table(tmp_path / "nowhere" / "table.csv")
    comparison.plot(tmp_path / "figure.svg")
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()


def test_the_performance_profile_is_the_fraction_of_seeds_above_each_return():
    runs = [result([[0.0], [1.0], [2.0], [3.0]]), result([[1.5]] * 4)]
    chart = comparison_chart(compare_runs(runs, ["a", "b"]).environments)
    curves, profile, differences = chart.panels
    first, band, second, _ = profile.marks
    assert (band.low <= first.y).all()
    assert (first.y <= band.high).all()
    assert np.interp([-0.1, 0.5, 1.4, 2.5, 3.1], first.x, first.y).tolist() == [
        *(1.0, 0.75, 0.5, 0.25, 0.0)
    ]
    assert set(second.y) == {0.0, 1.0}
    assert [text for _, text in differences.y.ticks] == ["2 − 1"]
    assert [mark.label for mark in curves.marks] == ["1: a (4 seeds)", "2: b (4 seeds)"]


def test_the_figure_and_the_table_say_what_is_measured():
    runs = [result(np.random.default_rng(i).normal(i, 1, (3, 20)), every=100) for i in range(2)]
    final = compare_runs(runs, ["a", "b"], measure="final")
    _, profile, differences = comparison_chart(final.environments).panels
    assert profile.x.label == "mean return in the last tenth τ"
    assert differences.title == "GridWorld: difference of mean return in the last tenth"
    assert "steps 1,900 to 2,000 (2 evaluations)" in str(final)
    (row,) = csv.DictReader(io.StringIO(as_csv(final)))
    assert (row["measure"], row["first_x"], row["last_x"]) == ("final", "1900", "2000")


def test_the_numbers_of_an_axis_do_not_touch():
    low, high = result([[-2000.0], [-100.0]]), result([[-1500.0], [-300.0]])
    figure = compare_runs([low, high], ["a", "b"]).plot()
    figure.draw_without_rendering()
    for panel in figure.subfigs[0].axes:
        shown = [text.get_window_extent() for text in panel.get_xticklabels() if text.get_text()]
        assert all(a.x1 + 5 < b.x0 for a, b in pairwise(shown))


def test_names_of_any_length_cover_no_curve():
    runs = [result([[0.0, i], [0.0, 2.0 * i]], env=env) for env in ("A", "B") for i in range(3)]
    comparison = compare_runs(runs, [f"run {i}, " + "a long name " * 6 for i in range(3)] * 2)
    assert len({run.style for run in comparison.environments[0].runs}) == 3
    figure = comparison.plot()
    figure.draw_without_rendering()
    rows = [(row.legends[0], row.axes) for row in figure.subfigs]
    assert len(rows) == 2
    for legend, panels in rows:
        top = legend.get_window_extent().y1
        assert all(panel.get_tightbbox().y0 > top for panel in panels)


def test_several_environments_have_a_table_of_averages():
    scores = {"GridWorld": ([0.0, 1.0], [2.0, 3.0]), "DynaMaze": ([0.0, 1.0], [0.0, 1.0])}
    runs = [result(np.array(one)[:, None], env=env) for env, both in scores.items() for one in both]
    comparison = compare_runs(runs, ["a", "b"] * 2)
    (average,) = comparison.averages
    assert (average.first, average.second) == ("b", "a")
    assert average.probability_of_improvement.value == 0.75  # of 1 and 0.5
    assert "P(better), averaged over environments" in str(comparison)
    rows = list(csv.DictReader(io.StringIO(as_csv(comparison))))
    assert rows[-1]["environment"] == "average over GridWorld and DynaMaze"
    assert rows[-1]["probability_of_improvement"] == "0.75"
    assert rows[-1]["mean_difference"] == ""
    latex = as_latex(comparison)
    assert "b & a & 2 & 0.75 {[}" in latex
