import subprocess
import sys

import pytest
import small

from freqdyna import envs
from freqdyna.cli.main import main

SMALL = small.options(small.SMALL)


def exit_code(*arguments):
    with pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    return exited.value.code


def test_train_plot_and_resume(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["train", *SMALL, "--out", "runs/first"])
    printed = capsys.readouterr().out
    assert "er on GridWorld (30 steps): 3 seeds × 90 steps" in printed
    assert "steps/s" in printed
    assert "at the end" in printed
    assert "results: runs/first" in printed

    main(["train", "--config", "runs/first/config.toml", "--algorithm=prioritized-er"])
    main(["plot", "runs/first", "runs/prioritized-er-GridWorld"])
    printed = capsys.readouterr().out
    assert "prioritized-er on GridWorld (30 steps): 3 seeds × 90 steps" in printed
    assert "figure: curves.png" in printed
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")

    main(["resume", "runs/first"])
    assert "resuming from step 90" in capsys.readouterr().out
    main(["plot", "runs/first"])
    assert (tmp_path / "runs" / "first" / "curves.png").exists()


@pytest.mark.default_compiler
def test_a_tabular_agent_trains_and_resumes(tmp_path, capsys):
    main(["train", *small.options(small.TABULAR), "--out", str(tmp_path / "run")])
    assert "tabular-dyna-q on DynaMaze: 2 seeds × 200 steps" in capsys.readouterr().out
    main(["resume", str(tmp_path / "run")])
    assert "step 200" in capsys.readouterr().out


def test_list_names_everything(capsys):
    main(["list"])
    printed = capsys.readouterr().out
    for name in (
        "er",
        "prioritized-er",
        "hessian-norm",
        *envs.ENVIRONMENTS,
        "ensemble",
        "published",
    ):
        assert f"\n  {name} " in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--algorithm=per"], "unknown algorithm 'per'; known, nearest first: er, "),
        (["train", "--env=MountainCar"], "unknown environment 'MountainCar'; known, nearest"),
        (["train", "--steps=0"], "steps is 0; it must be an integer, 1 or greater"),
        (["train", "--discount=2"], "discount is 2.0; it must be between 0 and 1"),
        (["train", "--config=none.toml"], "no configuration file at none.toml"),
        (["train", "--preset=papers"], "unknown preset 'papers'; known, nearest first: paper, "),
        (["train", *SMALL, "--out=full"], "out is 'full', which exists; choose a new folder"),
        (["train", *SMALL, "--checkpoint-seconds=-1"], "checkpoint_seconds is -1.0; it must be"),
        (["resume", "nowhere"], "'nowhere' is not a run folder: it has no config.toml"),
        (["plot", "nowhere"], "'nowhere' has no training; it must be a run folder, a folder of"),
        (["plot"], "folders is empty; it must have at least one run folder"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert exit_code(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"freqdyna: {message}")
    assert captured.err.count("\n") == 1
    assert not captured.out
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_an_unwritable_picture_and_an_unfinished_run_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["train", *SMALL, "--out=run"])
    assert exit_code("plot", "run", "--out=no/such/folder.png") == 2
    assert exit_code("plot", "run", "--out=curves.docx") == 2
    for name in ("arrays.npz", "metrics.parquet"):
        (tmp_path / "run" / name).write_bytes(b"rubbish")
        assert exit_code("plot", "run") == 2
        assert f"{name} is damaged" in capsys.readouterr().err
    (tmp_path / "run" / "metrics.parquet").unlink()
    assert exit_code("plot", "run") == 2
    assert "finish the run with: freqdyna resume run" in capsys.readouterr().err


def test_unknown_options_and_help_are_answered(capsys):
    assert exit_code("train", "--lerning-rate=1") == 2
    assert "--learning-rate" in capsys.readouterr().err
    assert exit_code("train", "--help") == 0
    assert "The learning rate of Adam" in capsys.readouterr().out


def test_importing_the_package_is_light():
    code = (
        "import sys, freqdyna; heavy = {'jax', 'equinox', 'matplotlib', 'pyarrow', 'tyro', 'rich'}"
        "; assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
        "; assert set(dir(freqdyna)) >= {'train', 'resume', 'load', 'envs', 'Config'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
