"""The commands, and what they answer if something is wrong: one sentence, and a status."""

import errno
import os
import subprocess
import sys

import pytest
import small

from freqdyna import FreqdynaError, envs
from freqdyna.cli.main import main
from freqdyna.cli.results import ListNames

SMALL = small.options(small.SMALL)
LONG = "x" * 300


def refused(capsys, status, *arguments):
    """The sentence that a failing command prints, and nothing else."""
    with pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr().err
    assert exited.value.code == status, printed
    assert printed.startswith("freqdyna: "), printed
    assert printed.count("\n") == 1, printed
    return printed


def failing(monkeypatch, error):
    """Make `freqdyna list` raise an error."""

    def run(self):
        raise error

    monkeypatch.setattr(ListNames, "run", run)


@pytest.mark.slow
@pytest.mark.default_compiler
def test_train_plot_and_resume(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["train", *small.options(small.QUICK), "--out", "runs/first"])
    main(["train", "--config", "runs/first/config.toml", "--first-seed=5"])
    main(["plot", "runs/first", "runs/er-CartPole-v1"])
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    main(["resume", "runs/first"])
    main(["plot", "runs/first"])
    assert (tmp_path / "runs" / "first" / "curves.png").exists()
    refused(capsys, 2, "plot", "runs/first", "--out=curves.docx")
    (tmp_path / "runs" / "first" / "metrics.parquet").unlink()
    refused(capsys, 2, "plot", "runs/first")


def test_list_names_everything(capsys):
    main(["list"])
    printed = capsys.readouterr().out
    for name in ("er", "prioritized-er", "hessian-norm", *envs.ENVIRONMENTS, "ensemble", "paper"):
        assert f"\n  {name} " in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--algorithm=per"],
        ["train", "--env=\udcff"],
        ["train", "--steps=0"],
        ["train", "--config=none.toml"],
        ["train", f"--config={LONG}"],
        ["train", *SMALL, "--out=full"],
        ["train", *SMALL, f"--out={LONG}"],
        ["train", *SMALL, "--checkpoint-seconds=-1"],
        ["resume", "pipe"],
        ["plot", "nowhere"],
        ["compare", "nowhere", "--table=table.txt"],
        ["sweep", LONG, "--out=out"],
        ["report", "pipe", "--out=report.html"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40].encode("ascii", "replace").decode(),
)
def test_bad_input_is_refused_in_one_sentence(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    os.mkfifo("pipe")
    printed = refused(capsys, 2, *arguments)
    assert all(option[8:] in printed for option in arguments if option.startswith("--table="))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "pipe"]


@pytest.mark.parametrize(
    "text",
    [
        "steps = " + "9" * 5_000,
        f"{'x' * 50_000} = 1",
        "env = [['x']]",
        "learner = {discount = nan}",
        "steps = ",
        "\x00",
    ],
    ids=lambda text: text[:12],
)
def test_odd_configuration_files_are_refused(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(text)
    refused(capsys, 2, "train", "--config", "config.toml")
    refused(capsys, 2, "resume", ".")


def test_errors_of_the_system_are_one_sentence_and_those_of_code_have_a_traceback(
    monkeypatch, capsys
):
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left", "a.txt"))
    assert "a.txt" in refused(capsys, 1, "list")
    with_note = FileNotFoundError(errno.ENOENT, "No such file", "a.txt")
    with_note.add_note("MyEnv.reset must return an observation")
    for error, status, debug in (
        (KeyError("x"), 1, []),
        (with_note, 1, []),
        (FreqdynaError("no"), 2, ["--debug"]),
    ):
        failing(monkeypatch, error)
        with pytest.raises(SystemExit) as exited:
            main([*debug, "list"])
        assert "Traceback" in capsys.readouterr().err
        assert exited.value.code == status


def test_names_that_are_not_utf_8_are_printed_with_escapes(monkeypatch, capsys):
    name = os.fsdecode(b"runs/\xff")
    monkeypatch.setattr(ListNames, "run", lambda self: print(name))
    main(["list"])
    assert capsys.readouterr().out == "runs/\\udcff\n"


@pytest.mark.slow
def test_importing_the_package_is_light():
    code = (
        "import sys, freqdyna; heavy = {'jax', 'equinox', 'matplotlib', 'pyarrow', 'tyro', 'rich'}"
        "; assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
        "; assert set(dir(freqdyna)) >= {'train', 'resume', 'load', 'envs', 'Config'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
