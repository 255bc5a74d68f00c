"""Files of other programs, written as these do, with known curves."""

import json

import numpy as np
import pytest

import freqdyna
from freqdyna import FreqdynaError
from freqdyna.cli.main import main
from freqdyna.results.imports import Curve, at_common_steps, import_curves
from freqdyna.results.record import IMPORTED

CSV = "seed,step,return\n0,10,1\n0,20,3\n1,20,7.5\n1,10,2\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Tests write to and read from a new current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_evaluations(path, steps, results):
    """evaluations.npz as EvalCallback of Stable-Baselines3 writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lengths = np.ones_like(results)
    np.savez(path, timesteps=np.array(steps), results=np.array(results), ep_lengths=lengths)
    return path


def write_monitor(path, episodes, start=100.0, env="CartPole-v1"):
    """A monitor file of Stable-Baselines3; episodes are returns, lengths and times."""
    header = json.dumps({"t_start": start, "env_id": env})
    rows = "\n".join(f"{r},{length},{t}" for r, length, t in episodes)
    return write(path, f"#{header}\nr,l,t\n{rows}\n")


def write_events(folder, scalars):
    """An event file with values by name and step."""
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(str(folder))
    for name, points in scalars.items():
        for step, value in points.items():
            writer.add_scalar(name, value, step)
    writer.close()
    return folder


def test_a_csv_file_has_a_row_for_each_seed_and_step(folder):
    result = import_curves(write(folder / "ppo.csv", CSV), env="CartPole-v1")
    assert (result.config.algorithm, result.env_name) == ("ppo (imported)", "CartPole-v1")
    assert result.seeds.tolist() == [0, 1]
    assert result.steps.tolist() == [10, 20]
    assert result.returns.tolist() == [[1.0, 3.0], [2.0, 7.5]]
    assert result.mean_return().tolist() == [2.0, 4.75]


def test_columns_may_have_spaces_and_the_environment_may_be_unknown(folder):
    text = CSV.replace("seed,step,return", "seed, step ,return")
    result = import_curves(write(folder / "ppo.csv", text), name="PPO")
    assert result.returns.tolist() == [[1.0, 3.0], [2.0, 7.5]]
    assert result.env_name == "unknown environment"


def test_rows_of_a_csv_file_are_chosen_by_their_values(folder, capsys):
    lines = CSV.splitlines()
    rows = [f"{row},{name},Hopper-v4,{n}" for n, name in enumerate("AB") for row in lines[1:]]
    write(folder / "all.csv", "\n".join([f"{lines[0]},algorithm,env,part", *rows]))
    chosen = {"algorithm": "B", "part": "1"}
    result = import_curves("all.csv", where=chosen)
    assert result.returns.tolist() == [[1.0, 3.0], [2.0, 7.5]]
    assert (result.config.algorithm, result.env_name) == ("B (imported)", "unknown environment")
    main(["import", "all.csv", "--where", "algorithm=A", "env=Hopper-v4", "--out", "runs/a"])
    assert freqdyna.load("runs/a").env_name == "Hopper-v4"
    main(["import", "all.csv", "--where", "algorithm=A", "--where", "part=0", "--out", "runs/b"])
    assert freqdyna.load("runs/b").returns.tolist() == [[1.0, 3.0], [2.0, 7.5]]
    with pytest.raises(SystemExit):
        main(["import", "all.csv", "--where", "algorithm=A", "algorithm=B", "--out", "runs/c"])
    for wrong in ({"algorithm": "C"}, {"colour": "red"}):
        with pytest.raises(FreqdynaError, match=next(iter(wrong))):
            import_curves("all.csv", where=wrong)
    with pytest.raises(FreqdynaError):  # both have each seed and step
        import_curves("all.csv")


@pytest.mark.parametrize(
    "text",
    [
        CSV.replace("return", "score"),
        CSV.replace("7.5", "high"),
        CSV.replace("1,20", "1,20.5"),
        CSV + "0,10,5\n",  # seed 0 has step 10 twice
        CSV + "2,500,1\n",  # no common steps
        "\n",
    ],
)
def test_a_csv_file_that_cannot_be_used_is_refused(text, folder):
    with pytest.raises(FreqdynaError):
        import_curves(write(folder / "bad.csv", text))


def test_evaluations_of_stable_baselines3_are_one_seed_each(folder):
    first = write_evaluations(folder / "a/evaluations.npz", [100, 200], [[1.0, 3.0], [4.0, 6.0]])
    write_evaluations(folder / "b/evaluations.npz", [100, 200], [[0.0, 0.0], [8.0, 9.0]])
    result = import_curves(first, folder / "b", name="PPO", env="CartPole-v1")
    assert result.steps.tolist() == [100, 200]
    assert result.returns.tolist() == [[2.0, 5.0], [0.0, 8.5]]
    assert not result.has_training_returns


def test_gymnasiums_mountain_car_is_not_the_built_in_one(folder):
    path = write_evaluations(folder / "evaluations.npz", [100], [[-200.0]])
    assert import_curves(path, env="MountainCar-v0").env_name == "MountainCar-v0 (200 steps)"
    assert import_curves(path, env="CartPole-v1").env_name == "CartPole-v1"
    named = {2000: "MountainCar-v0", 500: "MountainCar-v0 (500 steps)"}  # 2000 is the built-in's
    for limit, name in named.items():
        assert import_curves(path, env="MountainCar-v0", episode_limit=limit).env_name == name
    csv = write(folder / "ppo.csv", CSV)  # may come from either
    assert import_curves(csv, env="MountainCar-v0").env_name == "MountainCar-v0"


@pytest.mark.parametrize(("steps", "results"), [([1, 2], [[1.0]]), ([2, 2], [[1.0], [1.0]])])
def test_evaluations_that_cannot_be_used_are_refused(steps, results, folder):
    path = write_evaluations(folder / "evaluations.npz", steps, results)
    with pytest.raises(FreqdynaError, match=r"evaluations\.npz"):
        import_curves(path)


def test_a_monitor_file_has_the_episodes_of_a_training(folder):
    path = write_monitor(folder / "seed-3/monitor.csv", [(5, 5, 0.1), (10, 10, 0.2), (20, 20, 0.4)])
    result = import_curves(path)
    assert result.steps.tolist() == [5, 15, 35]
    assert result.returns.tolist() == [[5.0, 10.0, 20.0]]
    np.testing.assert_allclose(result.along("seconds"), [0.1, 0.2, 0.4])
    assert result.env_name == "CartPole-v1"
    assert result.config.algorithm == "seed-3 (imported)"
    assert result.has_training_returns


def test_monitor_files_of_one_folder_are_environments_of_one_training(folder):
    write_monitor(folder / "logs/0.monitor.csv", [(1, 10, 0.5), (3, 10, 2.0)], start=100.0)
    write_monitor(folder / "logs/1.monitor.csv", [(2, 5, 0.6), (4, 5, 1.0)], start=100.5)
    result = import_curves(folder / "logs")
    # In the order of time: after 0.5, 1.1, 1.5 and 2.0 seconds.
    assert result.steps.tolist() == [10, 15, 20, 30]
    assert result.returns.tolist() == [[1.0, 2.0, 4.0, 3.0]]
    np.testing.assert_allclose(result.along("seconds"), [0.5, 1.1, 1.5, 2.0])


def test_scalars_of_tensorboard_are_found_by_their_usual_names(folder):
    scalars = {"rollout/ep_rew_mean": {10: 1.0, 20: 2.5}, "train/loss": {10: 7.0}}
    write_events(folder / "a", scalars)
    write_events(folder / "b", {"rollout/ep_rew_mean": {10: 3.0, 20: 4.0}})
    result = import_curves(folder / "a", folder / "b")
    assert result.returns.tolist() == [[1.0, 2.5], [3.0, 4.0]]
    assert result.provenance[IMPORTED]["tag"] == "rollout/ep_rew_mean"
    assert result.has_training_returns
    (path,) = (folder / "a").iterdir()
    assert import_curves(path, tag="train/loss").returns.tolist() == [[7.0]]
    assert (np.diff(result.along("seconds")) >= 0).all()
    with pytest.raises(FreqdynaError, match="tag"):
        import_curves(path, tag="loss")


def test_seeds_with_other_steps_are_averaged_over_intervals():
    first = Curve(0, np.array([4, 8, 12, 30]), np.array([1.0, 3.0, 5.0, 9.0]))
    second = Curve(1, np.array([10, 20, 40]), np.array([2.0, 4.0, 8.0]))
    steps, metrics, _ = at_common_steps([first, second], every=10)
    assert steps.tolist() == [10, 20, 30]
    # Of the first seed, 4 and 8 are in the first interval; the others have one point each.
    assert metrics["return"].tolist() == [[2.0, 5.0, 9.0], [2.0, 4.0, 4.0]]
    assert at_common_steps([first, second])[2] == 1
    steps, _, every = at_common_steps([first, first])
    assert every is None
    assert steps.tolist() == [4, 8, 12, 30]


def test_imported_curves_are_saved_and_loaded(folder):
    write(folder / "ppo.csv", CSV)
    result = import_curves("ppo.csv", env="CartPole-v1")
    result.save("runs/ppo")
    loaded = freqdyna.load("runs/ppo")
    assert loaded.config == result.config
    assert loaded.provenance == result.provenance
    np.testing.assert_array_equal(loaded.returns, result.returns)
    loaded.save("runs/copy")
    assert freqdyna.load("runs/copy").imported_from == "ppo.csv (CSV)"
    with pytest.raises(FreqdynaError, match="out is"):
        result.save("runs/ppo")
    for use in (result.policy, result.network, result.seed_parameters):
        with pytest.raises(FreqdynaError, match="imported"):
            use(0)


@pytest.mark.slow
def test_the_command_imports_and_the_others_take_what_it_wrote(folder, capsys):
    write(folder / "a.csv", CSV)
    write(folder / "b.csv", CSV.replace("0,20,3", "0,30,3"))
    main(["import", "a.csv", "--name=PPO", "--env=CartPole-v1"])
    main(["import", "b.csv", "--env=CartPole-v1", "--out=runs/b"])
    capsys.readouterr()
    main(["compare", "runs"])
    printed = capsys.readouterr().out
    assert "PPO (imported)" in printed
    assert "b (imported)" in printed
    main(["plot", "runs/b", "runs/PPO-CartPole-v1"])


@pytest.mark.parametrize(
    ("files", "settings", "named"),
    [
        (["none.csv"], {}, "none"),
        (["notes.txt"], {}, "notes"),
        (["a.csv", "monitor.csv"], {}, "files"),
        (["a.csv"], {"every": 0}, "every"),
    ],
)
def test_bad_input_is_refused(files, settings, named, folder):
    write(folder / "a.csv", CSV)
    write(folder / "notes.txt", "")
    write_monitor(folder / "monitor.csv", [(1, 1, 1)])
    with pytest.raises(FreqdynaError, match=named):
        import_curves(*files, **settings)
