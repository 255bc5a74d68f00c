"""Learning curves, the names and looks of runs, and the table of runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from freqdyna import Config, FreqdynaError, Result
from freqdyna.agents.algorithms import completed
from freqdyna.results.chart import record_labels
from freqdyna.results.draw import save_figure
from freqdyna.results.folder import free_name
from freqdyna.results.plot import curves_chart, plot_curves
from freqdyna.results.record import IMPORTED, TRAINING_RETURNS
from freqdyna.results.tables import print_table


def make_result(seeds=4, **settings):
    config = completed(Config.of({"seeds": seeds, **settings}))
    steps = np.arange(500, 5001, 500)
    metrics = {
        "return": np.random.default_rng(0).normal(-500, 50, (seeds, 10)),
        "seconds": np.tile(np.arange(1.0, 11.0), (seeds, 1)),
    }
    return Result(config, {}, np.arange(seeds), steps, metrics, np.zeros((seeds, 1)), ())


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


def test_curves_over_steps_and_over_seconds():
    result = make_result(algorithm="er")
    (line,) = plot_curves([result]).axes[0].lines
    np.testing.assert_allclose(line.get_ydata(), result.returns.mean(0))
    np.testing.assert_array_equal(line.get_xdata(), result.steps)
    (line,) = result.plot(x="seconds").axes[0].lines
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 11))
    untimed = replace(result, metrics={"return": result.returns})
    with pytest.raises(FreqdynaError, match="x is 'seconds', but"):
        untimed.plot(x="seconds")


def test_runs_of_one_algorithm_are_named_by_what_differs():
    results = [make_result(planning_steps=10), make_result(planning_steps=30)]
    assert record_labels(results) == ["er, planning steps 10", "er, planning steps 30"]
    curves = curves_chart(results).panels[0].marks
    assert curves[0].style.color != curves[1].style.color


def test_of_many_runs_no_two_look_the_same():
    rates, sizes, algorithms = (1e-4, 1e-3, 1e-2), (8, 16, 32, 64), ("er", "dyna-value")
    for kinds in (algorithms, algorithms[:1]):
        results = [
            make_result(algorithm=a, batch_size=size, learner={"learning_rate": rate})
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
    printed = capsys.readouterr().out
    assert "3 of 4 × 5,000" in printed
    assert "nan" not in printed


def test_a_run_of_which_no_seed_is_left_is_named_in_the_legend():
    result = make_result()
    result.returns[:, -1] = np.nan
    (text,) = plot_curves([result]).axes[0].get_legend().get_texts()
    assert text.get_text() == "er (0 of 4 seeds; 4 without a finite return)"


def test_figures_are_written_whole_or_refused(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "curves.png"
    victim.write_text("mine")
    link.symlink_to(victim)
    save_figure(Figure(), link)
    assert victim.read_text() == "mine"
    assert link.read_bytes().startswith(b"\x89PNG")
    (tmp_path / "folder.png").mkdir()
    for name in ("none/a.png", "a.xyz", "folder.png"):
        with pytest.raises(FreqdynaError, match="out is"):
            save_figure(Figure(), tmp_path / name)


def a_run(returns, warmup_steps=1000, **settings):
    """A run with these returns at steps 1000, 2000, 3000."""
    config = Config.of(
        {"seeds": 2, "steps": 3000, "eval_every": 1000, "warmup_steps": warmup_steps, **settings}
    )
    seeds, steps = np.arange(2), np.array([1000, 2000, 3000])
    metrics = {"return": np.array(returns, np.float32)}
    return Result(config, {}, seeds, steps, metrics, np.zeros((2, 0)), ())


RISING = [[-9000.0, -200.0, -100.0], [-9000.0, -240.0, -120.0]]


def test_the_table_has_the_return_after_the_warm_up_and_at_the_end(capsys):
    run = a_run(RISING)
    np.testing.assert_array_equal(run.mean_return(), [-150, -180])
    np.testing.assert_array_equal(run.mean_return(first_step=0), [-3100, -3120])
    print_table([(Path("runs/one"), run)])
    printed = capsys.readouterr().out
    for part in ("−165", "[−180, −150]", "−110", "[−120, −100]"):
        assert part in printed
    assert "-1" not in printed  # no hyphen beside a minus sign


def test_a_run_without_an_evaluation_after_its_warm_up_has_no_such_return(capsys):
    run = a_run(RISING, warmup_steps=5000)
    np.testing.assert_array_equal(run.mean_return(), [-100, -120])  # for charts and searches
    print_table([(Path("runs/one"), run)])
    printed = capsys.readouterr().out
    assert printed.count("−110") == 1
    assert " – " in printed


def test_one_seed_and_equal_seeds_have_no_interval(capsys):
    one = a_run(RISING)
    one = replace(one, seeds=one.seeds[:1], metrics={"return": one.returns[:1]})
    equal = replace(one, seeds=np.arange(3), metrics={"return": np.repeat(one.returns, 3, axis=0)})
    print_table([(Path("runs/one"), one), (Path("runs/equal"), equal)])
    printed = capsys.readouterr().out
    assert printed.count("−150") == 2
    assert printed.count("[") == 1  # in the title


def test_what_varies_and_the_intervals_are_shown_on_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    name = "algorithm dyna-frequency, learning_rate 0.0001, climb_preconditioner identity"
    print_table([(Path("sweep"), a_run(RISING))], [name])
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "[−180, −150]" in printed
    assert [word for word in name.split() if word not in printed] == []


def test_an_environment_with_another_episode_limit_has_another_name():
    usual, short = (
        make_result(**{"env.episode_limit": 2000}),
        make_result(**{"env.episode_limit": 200}),
    )
    assert (usual.env_name, short.env_name) == ("MountainCar-v0", "MountainCar-v0 (200 steps)")
    panels = curves_chart([usual, short]).panels
    assert [panel.title for panel in panels] == [usual.env_name, short.env_name]
    assert panels[0].marks[0].label == panels[1].marks[0].label  # the limit is in the titles


def test_the_users_own_components_are_named(capsys):
    results = [
        make_result(algorithm="dyna", search_control="td-error"),
        make_result(algorithm="dyna", search_control="my:Search"),
        make_result(algorithm="dyna", search_control="my:Search", model="mine:Model"),
    ]
    names = ["dyna (td-error)", "dyna (my:Search)", "dyna (my:Search), model mine:Model"]
    assert record_labels(results) == names
    assert len({curve.style for curve in curves_chart(results).panels[0].marks}) == 3
    print_table([(Path("a"), result) for result in results])
    printed = capsys.readouterr().out
    assert "mine:Model" in printed
    assert "dyna (td-error) on MountainCar-v0" in repr(results[0])
    assert free_name(results[1].config).name == "dyna-my-Search-MountainCar-v0"


def test_runs_with_equal_settings_have_different_names_and_colours():
    runs = [make_result(), make_result(), make_result(env="GridWorld")]
    runs.append(replace(runs[0], provenance={"init_from": {"algorithm": "er"}}))
    assert record_labels(runs) == ["er (1)", "er (2)", "er", "er, from trained parameters"]
    assert record_labels(runs, ["a", "b", "c", "d"])[:2] == ["er (a)", "er (b)"]
    marks = [mark for panel in curves_chart(runs).panels for mark in panel.marks]
    assert len({mark.style.color for mark in marks[:3]}) == 3


def test_settings_that_only_some_runs_have_do_not_name_them():
    runs = [make_result(algorithm="dyna-value", model=model) for model in ("true", "learned")]
    assert record_labels(runs) == ["dyna-value, model true", "dyna-value, model learned"]


def test_returns_of_training_episodes_are_not_called_evaluations():
    own, theirs = make_result(), make_result()
    theirs = replace(theirs, provenance={IMPORTED: {"returns": TRAINING_RETURNS}})
    titles = [curves_chart(runs).panels[0].y.label for runs in ([own], [theirs], [own, theirs])]
    assert titles == ["evaluation return", "return of training episodes", "return"]
