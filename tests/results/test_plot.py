from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from freqdyna import Config, FreqdynaError, Result
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.results.plot import curves_chart, plot_curves, save_figure
from freqdyna.results.table import print_table


def make_result(seeds=4, **settings):
    config = resolved_by_name(Config(seeds=seeds, **settings))
    steps = np.arange(500, 5001, 500)
    returns = np.random.default_rng(0).normal(-500, 50, (seeds, 10))
    return Result(
        config, {}, np.arange(seeds), steps, {"return": returns}, np.zeros((seeds, 1)), ()
    )


def test_one_panel_an_environment_and_one_colour_an_algorithm():
    results = [
        make_result(algorithm="er"),
        make_result(algorithm="prioritized-er"),
        make_result(algorithm="er", env="MazeGridWorld"),
    ]
    panels = curves_chart(results).panels
    assert [panel.title for panel in panels] == ["MountainCar-v0", "MazeGridWorld"]
    curves = panels[0].marks
    assert [curve.label for curve in curves] == ["er (4 seeds)", "prioritized-er (4 seeds)"]
    assert [curve.style.color for curve in curves] == ["forestgreen", "blue"]
    np.testing.assert_array_equal(curves[0].values, results[0].returns)
    low, high = curves[0].interval
    assert (low < curves[0].mean).all()
    assert (curves[0].mean < high).all()


def test_the_figure_shows_the_means():
    result = make_result(algorithm="er")
    (line,) = plot_curves([result]).axes[0].lines
    np.testing.assert_allclose(line.get_ydata(), result.returns.mean(0))


def test_runs_of_one_algorithm_are_told_apart_by_what_differs():
    results = [make_result(planning_steps=10), make_result(planning_steps=30)]
    curves = curves_chart(results).panels[0].marks
    assert [curve.label for curve in curves] == [
        "er, planning steps 10 (4 seeds)",
        "er, planning steps 30 (4 seeds)",
    ]
    assert curves[0].style.color != curves[1].style.color


def test_of_many_runs_no_two_look_the_same():
    rates, sizes, algorithms = (1e-4, 1e-3, 1e-2), (8, 16, 32, 64), ("er", "dyna-value")
    for kinds in (algorithms, algorithms[:1]):
        results = [
            make_result(algorithm=a, learning_rate=rate, batch_size=size)
            for a in kinds
            for rate in rates
            for size in sizes
        ]
        curves = curves_chart(results).panels[0].marks
        assert len({curve.style for curve in curves}) == len(results)


def test_one_seed_has_a_curve_without_an_interval():
    (curve,) = curves_chart([make_result(seeds=1)]).panels[0].marks
    assert curve.label == "er (1 seed)"
    assert curve.interval is None


def test_a_seed_that_ended_early_does_not_take_the_others_with_it(capsys):
    result = make_result()
    result.returns[1, 3:] = np.nan
    (curve,) = curves_chart([result]).panels[0].marks
    assert curve.label == "er (3 of 4 seeds; 1 without a finite return)"
    np.testing.assert_array_equal(curve.values, result.returns[[0, 2, 3]])
    assert curve.seeds.tolist() == [0, 2, 3]
    print_table([(Path("runs/one"), result)])
    shown = capsys.readouterr().out
    assert "3 of 4 × 5,000" in shown
    assert "nan" not in shown


def test_a_run_of_which_no_seed_is_left_is_named_in_the_legend():
    result = make_result()
    result.returns[:, -1] = np.nan
    (line,) = curves_chart([result]).panels[0].marks
    assert (line.label, len(line.x)) == ("er (0 of 4 seeds; 4 without a finite return)", 0)
    (text,) = plot_curves([result]).axes[0].get_legend().get_texts()
    assert text.get_text() == "er (0 of 4 seeds; 4 without a finite return)"


def test_a_link_with_the_name_of_a_figure_is_replaced_and_not_followed(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "curves.png"
    victim.write_text("mine")
    link.symlink_to(victim)
    save_figure(Figure(), link)
    assert victim.read_text() == "mine"
    assert link.read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "folder.png").mkdir()
    for name in ("none/a.png", "a.xyz", "folder.png"):
        with pytest.raises(FreqdynaError, match="which cannot be written"):
            save_figure(Figure(), tmp_path / name)
