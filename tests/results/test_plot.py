from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from freqdyna import Config, FreqdynaError, Result
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.report import runs as report_of_runs
from freqdyna.results.folder import free_name
from freqdyna.results.plot import curves_chart, plot_curves, save_figure
from freqdyna.results.record import IMPORTED, TRAINING_RETURNS
from freqdyna.results.run_styles import record_labels
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


def test_a_figure_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "folder.png").mkdir()
    monkeypatch.setenv("PATH", "")
    figure = Figure()
    figure.subplots().set_title("text, for which LaTeX is needed")
    with pytest.raises(FreqdynaError, match=r"needs LaTeX .* choose \.png, \.pdf or \.svg"):
        save_figure(figure, tmp_path / "a.pgf")
    for name in ("none/a.png", "a.xyz", "folder.png"):
        with pytest.raises(FreqdynaError, match="which cannot be written"):
            save_figure(Figure(), tmp_path / name)


def a_run(returns, warmup_steps=1000, **settings):
    """A run with these returns at steps 1000, 2000, 3000."""
    config = Config(seeds=2, steps=3000, eval_every=1000, warmup_steps=warmup_steps, **settings)
    seeds, steps = np.arange(2), np.array([1000, 2000, 3000])
    metrics = {"return": np.array(returns, np.float32)}
    return Result(config, {}, seeds, steps, metrics, np.zeros((2, 0)), ())


RISING = [[-9000.0, -200.0, -100.0], [-9000.0, -240.0, -120.0]]


def test_tables_reports_and_charts_have_one_return_after_the_warm_up(capsys):
    runs = [a_run(RISING, learning_rate=rate) for rate in (0.001, 0.01)]
    np.testing.assert_array_equal(runs[0].mean_return(), [-150, -180])
    np.testing.assert_array_equal(runs[0].mean_return(first_step=0), [-3100, -3120])
    print_table([(Path("runs/one"), runs[0])])
    assert "-165" in capsys.readouterr().out
    (row,) = report_of_runs.curves_section([runs[0]], ["there"]).tables["Return of each run"][1:]
    assert row[-2:] == ["−165 [−180, −150]", "−110 [−120, −100]"]
    (panel,) = report_of_runs.sensitivity_section(runs).chart["panels"]
    assert panel["marks"][0]["seeds"] == [[-150, -150], [-180, -180]]


def test_a_run_without_an_evaluation_after_its_warm_up_has_no_such_return(capsys):
    run = a_run(RISING, warmup_steps=5000)
    np.testing.assert_array_equal(run.mean_return(), [-100, -120])  # for charts and searches
    (row,) = report_of_runs.curves_section([run], ["there"]).tables["Return of each run"][1:]
    assert row[-2:] == ["–", "−110 [−120, −100]"]
    print_table([(Path("runs/one"), run)])
    shown = capsys.readouterr().out
    assert shown.count("-110") == 1
    assert " - " in shown


def test_one_seed_and_equal_seeds_have_no_interval(capsys):
    one = a_run(RISING)
    one = replace(one, seeds=one.seeds[:1], metrics={"return": one.returns[:1]})
    equal = replace(one, seeds=np.arange(3), metrics={"return": np.repeat(one.returns, 3, axis=0)})
    print_table([(Path("runs/one"), one), (Path("runs/equal"), equal)])
    shown = capsys.readouterr().out
    assert shown.count("-150") == 2
    assert shown.count("[") == 1  # in the title
    section = report_of_runs.curves_section([one, equal], ["there", "here"])
    rows = section.tables["Return of each run"]
    assert [row[-2:] for row in rows[1:]] == [["−150", "−100"]] * 2


def test_the_axis_of_a_varied_setting_includes_the_intervals():
    runs = [a_run(RISING, learning_rate=rate) for rate in (0.001, 0.01)]
    (panel,) = report_of_runs.sensitivity_section(runs).chart["panels"]
    assert panel["y"]["range"] == [-181.5, -148.5]  # from -180 to -150, and a twentieth


def test_what_varies_and_the_intervals_are_shown_on_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    name = "algorithm dyna-frequency, learning_rate 0.0001, climb_preconditioner identity"
    print_table([(Path("sweep"), a_run(RISING))], [name])
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert "[-180, -150]" in shown
    assert "varied settings" in shown
    assert "algorithm and environment" not in shown
    assert [word for word in name.split() if word not in shown] == []


def test_an_environment_with_another_episode_limit_has_another_name():
    own, theirs = make_result(episode_limit=2000), make_result(episode_limit=200)
    assert (own.env_name, theirs.env_name) == ("MountainCar-v0", "MountainCar-v0 (200 steps)")
    panels = curves_chart([own, theirs]).panels
    assert [panel.title for panel in panels] == [own.env_name, theirs.env_name]
    assert panels[0].marks[0].label == panels[1].marks[0].label  # the limit is in the titles
    rows = report_of_runs.curves_section([own, theirs], ["a", "b"]).tables["Return of each run"]
    assert [row[1] for row in rows[1:]] == [own.env_name, theirs.env_name]


def test_varied_episode_limits_are_one_line_of_the_report():
    runs = [a_run(RISING, episode_limit=limit) for limit in (100, 200)]
    (panel,) = report_of_runs.sensitivity_section(runs).chart["panels"]
    assert panel["title"] == "MountainCar-v0: episode limit"


def test_two_search_controls_of_dyna_have_different_names(capsys):
    results = [
        make_result(algorithm="dyna", search_control=name) for name in ("td-error", "my:Search")
    ]
    curves = curves_chart(results).panels[0].marks
    assert [curve.label for curve in curves] == [
        "dyna (td-error) (4 seeds)",
        "dyna (my:Search) (4 seeds)",
    ]
    assert curves[0].style != curves[1].style
    print_table([(Path("a"), results[0]), (Path("b"), results[1])])
    shown = capsys.readouterr().out
    assert "dyna (td-error)" in shown
    assert "dyna (my:Search)" in shown
    assert "dyna (td-error) on MountainCar-v0" in repr(results[0])
    assert free_name(results[1].config).name == "dyna-my-Search-MountainCar-v0"


def test_runs_with_equal_settings_have_different_names_and_colours(capsys):
    runs = [make_result(), make_result(), make_result(env="GridWorld")]
    runs.append(replace(runs[0], provenance={"init_from": {"algorithm": "er"}}))
    names = ["er (1)", "er (2)", "er", "er, from trained parameters"]
    assert record_labels(runs) == names
    assert record_labels(runs, ["a", "b", "c", "d"])[:2] == ["er (a)", "er (b)"]
    marks = [mark for panel in curves_chart(runs).panels for mark in panel.marks]
    assert len({mark.style.color for mark in marks[:3]}) == 3
    print_table([(Path("run"), run) for run in runs])
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_settings_of_planning_do_not_name_agents_that_do_not_plan():
    runs = [make_result(model=model) for model in ("true", "learned")]
    assert record_labels(runs) == ["er (1)", "er (2)"]
    runs = [make_result(algorithm="dyna-value", model=model) for model in ("true", "learned")]
    assert record_labels(runs) == ["dyna-value, model true", "dyna-value, model learned"]


def test_returns_of_training_episodes_are_not_called_evaluations(capsys):
    own, theirs = make_result(), make_result()
    theirs = replace(theirs, provenance={IMPORTED: {"returns": TRAINING_RETURNS}})
    titles = [curves_chart(runs).panels[0].y.label for runs in ([own], [theirs], [own, theirs])]
    assert titles == ["evaluation return", "return of training episodes", "return"]
    print_table([(Path("run"), theirs)])
    assert "return of training episodes, mean over seeds" in capsys.readouterr().out
