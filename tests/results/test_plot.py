"""Learning curves, the names and looks of runs, and the table of runs."""

from dataclasses import replace
from pathlib import Path

import hand_made
import numpy as np
import pytest
from matplotlib.figure import Figure

from freqdyna import FreqdynaError
from freqdyna.results.chart import record_labels
from freqdyna.results.draw import save_figure
from freqdyna.results.folder import free_name
from freqdyna.results.plot import curves_chart, plot_curves
from freqdyna.results.tables import print_table

RISING = [[-9000.0, -200.0, -100.0], [-9060.0, -240.0, -120.0]]


def make_result(returns=RISING, warmup_steps=1000, env="MountainCar-v0", **settings):
    """A run with these returns at steps 1000, 2000 and so on."""
    settings = {"warmup_steps": warmup_steps, "env": env, **settings}
    return hand_made.result(returns, every=1000, **settings)


def test_one_panel_an_environment_and_one_colour_an_algorithm():
    results = [
        make_result(algorithm="er"),
        make_result(algorithm="prioritized-er"),
        make_result(algorithm="er", env="MazeGridWorld"),
    ]
    panels = curves_chart(results).panels
    assert [panel.title for panel in panels] == ["MountainCar-v0", "MazeGridWorld"]
    curves = panels[0].marks
    assert [curve.label for curve in curves] == ["er (2 seeds)", "prioritized-er (2 seeds)"]
    assert [curve.style.color for curve in curves] == ["forestgreen", "blue"]
    np.testing.assert_array_equal(curves[0].values, results[0].returns)
    low, high = curves[0].interval
    assert (low < curves[0].mean).all()
    assert (curves[0].mean < high).all()


def test_curves_over_steps_and_over_seconds():
    result = make_result(algorithm="er")
    (line,) = plot_curves([result]).axes[0].lines
    np.testing.assert_allclose(line.get_ydata(), result.returns.mean(0))
    np.testing.assert_array_equal(line.get_xdata(), result.steps)
    with pytest.raises(FreqdynaError, match="seconds"):
        result.plot(x="seconds")
    timed = replace(result, metrics=result.metrics | {"seconds": np.tile([1.0, 2.0, 3.0], (2, 1))})
    (line,) = timed.plot(x="seconds").axes[0].lines
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3])


def test_runs_of_one_algorithm_are_named_by_what_differs():
    results = [make_result(planning_steps=10), make_result(planning_steps=30)]
    assert record_labels(results) == ["er, planning steps 10", "er, planning steps 30"]
    curves = curves_chart(results).panels[0].marks
    assert curves[0].style.color != curves[1].style.color


def test_of_many_runs_no_two_look_the_same():
    results = [
        make_result(algorithm=algorithm, batch_size=size)
        for algorithm in ("er", "dyna-value")
        for size in range(8, 20)
    ]
    curves = curves_chart(results).panels[0].marks
    assert len({curve.style for curve in curves}) == len(results)


def test_figures_are_written_whole_or_refused(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "curves.png"
    victim.write_text("mine")
    link.symlink_to(victim)
    save_figure(Figure(), link)
    assert victim.read_text() == "mine"
    assert link.read_bytes().startswith(b"\x89PNG")
    for name in ("none/a.png", "a.xyz", "a"):
        with pytest.raises(FreqdynaError, match="out is"):
            save_figure(Figure(), tmp_path / name)


def test_the_table_has_the_return_after_the_warm_up_and_at_the_end(capsys):
    run = make_result()
    np.testing.assert_array_equal(run.mean_return(), [-150, -180])
    np.testing.assert_array_equal(run.mean_return(first_step=0), [-3100, -3140])
    print_table([(Path("runs/one"), run)])
    printed = capsys.readouterr().out
    for part in ("−165", "[−180, −150]", "−110", "[−120, −100]"):
        assert part in printed


def test_the_table_of_another_metric_leaves_out_what_is_missing(capsys):
    run = make_result()
    loss = np.full(run.returns.shape, 0.25)
    loss[:, 0] = np.nan
    print_table(
        [(Path("runs/one"), replace(run, metrics=run.metrics | {"loss": loss}))], None, "loss"
    )
    printed = capsys.readouterr().out
    assert "loss" in printed
    assert printed.count("0.25") >= 2


def test_a_run_without_an_evaluation_after_its_warm_up_has_no_such_return(capsys):
    run = make_result(warmup_steps=5000)
    np.testing.assert_array_equal(run.mean_return(), [-100, -120])  # for charts and searches
    print_table([(Path("runs/one"), run)])
    printed = capsys.readouterr().out
    assert printed.count("−110") == 1
    assert " – " in printed


def test_an_environment_with_another_episode_limit_has_another_name():
    usual, short = (make_result(**{"env.episode_limit": limit}) for limit in (2000, 200))
    assert (usual.env_name, short.env_name) == ("MountainCar-v0", "MountainCar-v0 (200 steps)")
    panels = curves_chart([usual, short]).panels
    assert [panel.title for panel in panels] == [usual.env_name, short.env_name]
    assert panels[0].marks[0].label == panels[1].marks[0].label  # the limit is in the titles


def test_the_users_own_components_are_named():
    results = [
        make_result(algorithm="dyna", search_control="td-error"),
        make_result(algorithm="dyna", search_control="my:Search"),
        make_result(algorithm="dyna", search_control="my:Search", model="mine:Model"),
    ]
    names = ["dyna (td-error)", "dyna (my:Search)", "dyna (my:Search), model mine:Model"]
    assert record_labels(results) == names
    assert len({curve.style for curve in curves_chart(results).panels[0].marks}) == 3
    assert free_name(results[1].config).name == "dyna-my-Search-MountainCar-v0"


def test_what_a_learned_model_was_told_is_in_its_name():
    learned = {"algorithm": "dyna-value", "model": "learned"}
    told = {"model.termination": "known", "model.state_space": "known"}
    names = record_labels([make_result(**learned), make_result(**learned, **told)])
    assert names == ["dyna-value", "dyna-value, known termination and state space"]


def test_runs_with_equal_settings_have_different_names_and_colours():
    runs = [make_result(), make_result(), make_result(env="GridWorld")]
    runs.append(replace(runs[0], provenance={"init_from": {"algorithm": "er"}}))
    assert record_labels(runs) == ["er (1)", "er (2)", "er", "er, from trained parameters"]
    assert record_labels(runs, ["a", "b", "c", "d"])[:2] == ["er (a)", "er (b)"]
    marks = [mark for panel in curves_chart(runs).panels for mark in panel.marks]
    assert len({mark.style.color for mark in marks[:3]}) == 3
