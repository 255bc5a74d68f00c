from pathlib import Path

import numpy as np

from freqdyna import Config, Result
from freqdyna.results.plot import plot_curves
from freqdyna.results.table import print_table


def make_result(seeds=4, **settings):
    config = Config(seeds=seeds, **settings).resolved()
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
    panels = plot_curves(results).axes
    assert [panel.get_title() for panel in panels] == ["MountainCar-v0", "MazeGridWorld"]
    lines = panels[0].lines
    assert [line.get_label() for line in lines] == ["er (4 seeds)", "prioritized-er (4 seeds)"]
    assert [line.get_color() for line in lines] == ["forestgreen", "blue"]
    np.testing.assert_allclose(lines[0].get_ydata(), results[0].returns.mean(0))
    assert len(panels[0].collections) == 2  # the shaded intervals


def test_runs_of_one_algorithm_are_told_apart_by_what_differs():
    results = [make_result(planning_steps=10), make_result(planning_steps=30)]
    lines = plot_curves(results).axes[0].lines
    assert [line.get_label() for line in lines] == [
        "er, planning steps 10 (4 seeds)",
        "er, planning steps 30 (4 seeds)",
    ]
    assert lines[0].get_color() != lines[1].get_color()


def test_of_many_runs_no_two_look_the_same():
    rates, sizes, algorithms = (1e-4, 1e-3, 1e-2), (8, 16, 32, 64), ("er", "dyna-value")
    for kinds in (algorithms, algorithms[:1]):
        results = [
            make_result(algorithm=a, learning_rate=rate, batch_size=size)
            for a in kinds
            for rate in rates
            for size in sizes
        ]
        lines = plot_curves(results).axes[0].lines
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == len(results)


def test_one_seed_has_a_curve_without_an_interval():
    panel = plot_curves([make_result(seeds=1)]).axes[0]
    assert panel.lines[0].get_label() == "er (1 seed)"
    assert not panel.collections


def test_a_seed_that_ended_early_does_not_take_the_others_with_it(capsys):
    result = make_result()
    result.returns[1, 3:] = np.nan
    (line,) = plot_curves([result]).axes[0].lines
    assert line.get_label() == "er (3 of 4 seeds)"
    np.testing.assert_allclose(line.get_ydata(), result.returns[[0, 2, 3]].mean(0))
    print_table([(Path("runs/one"), result)])
    shown = capsys.readouterr().out
    assert "3 of 4 × 5,000" in shown
    assert "nan" not in shown


def test_a_run_of_which_no_seed_is_left_is_named_in_the_legend():
    result = make_result()
    result.returns[:, -1] = np.nan
    (line,) = plot_curves([result]).axes[0].lines
    assert line.get_label() == "er (0 of 4 seeds)"
