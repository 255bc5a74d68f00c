"""The table and the figure of a comparison."""

import csv
import io

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


def test_the_csv_file_has_the_numbers(comparison):
    rows = list(csv.DictReader(io.StringIO(as_csv(comparison.environments))))
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
    text = as_latex(comparison.environments, comparison.notes)
    assert r"3 & 100\% {[}third] & 12 &" in text
    assert r"1 & first\_one & 12 &" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\bottomrule") == 2
    assert r"2 $-$ 1 & " in text


@pytest.mark.slow
def test_files_are_written_by_their_endings(comparison, tmp_path):
    comparison.save_table(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == as_csv(comparison.environments)
    comparison.save_table(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == as_latex(
        comparison.environments, comparison.notes
    )
    for path in ("table.txt", "nowhere/table.csv"):
        with pytest.raises(FreqdynaError):
            comparison.save_table(tmp_path / path)
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
