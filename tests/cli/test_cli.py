"""The commands, and what they answer if something is wrong: one sentence, and a status."""

import errno
import os
import signal
import subprocess
import sys

import pytest
import small

import freqdyna
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
    assert len(printed) < 3000
    return printed


def failing(monkeypatch, error):
    """Make `freqdyna list` raise an error."""

    def run(self):
        raise error

    monkeypatch.setattr(ListNames, "run", run)


def test_train_plot_and_resume(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["train", *SMALL, "--out", "runs/first"])
    main(["train", "--config", "runs/first/config.toml", "--algorithm=prioritized-er"])
    main(["plot", "runs/first", "runs/prioritized-er-GridWorld"])
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    main(["resume", "runs/first"])
    main(["plot", "runs/first"])
    assert (tmp_path / "runs" / "first" / "curves.png").exists()
    assert "GridWorld (30 steps)" in capsys.readouterr().out
    refused(capsys, 2, "plot", "runs/first", "--out=no/such/folder.png")
    refused(capsys, 2, "plot", "runs/first", "--out=curves.docx")
    (tmp_path / "runs" / "first" / "metrics.parquet").unlink()
    assert "freqdyna resume" in refused(capsys, 2, "plot", "runs/first")


@pytest.mark.default_compiler
def test_a_tabular_agent_trains_and_resumes(tmp_path, capsys):
    main(["train", *small.options(small.TABULAR), "--out", str(tmp_path / "run")])
    main(["resume", str(tmp_path / "run")])
    assert "DynaMaze" in capsys.readouterr().out


def test_list_names_everything(capsys):
    main(["list"])
    printed = capsys.readouterr().out
    for name in ("er", "prioritized-er", "hessian-norm", *envs.ENVIRONMENTS, "ensemble", "paper"):
        assert f"\n  {name} " in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--algorithm=per"],
        ["train", "--env=MountainCar"],
        ["train", "--env=\udcff"],
        ["train", "--steps=0"],
        ["train", "--gamma=2"],
        ["train", "--preset=papers"],
        ["train", "--config=none.toml"],
        ["train", "--config=."],
        ["train", f"--config={LONG}"],
        ["train", *SMALL, "--out=full"],
        ["train", *SMALL, "--out=file/run"],
        ["train", *SMALL, f"--out={LONG}"],
        ["train", *SMALL, "--checkpoint-seconds=-1"],
        ["resume", "nowhere"],
        ["resume", "pipe"],
        ["plot", "nowhere"],
        ["plot"],
        ["sweep", LONG, "--out=out"],
        ["status", "pipe"],
        ["report", "pipe", "--out=report.html"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40].encode("ascii", "replace").decode(),
)
def test_bad_input_is_refused_in_one_sentence(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "file").touch()
    os.mkfifo("pipe")
    refused(capsys, 2, *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full", "pipe"]


@pytest.mark.parametrize(
    "text",
    [
        "steps = " + "9" * 5_000,
        "steps = '" + "x" * 50_000 + "'",
        f"{'x' * 50_000} = 1",
        "step = 1",
        "steps = {a = 1}",
        "env = [['x']]",
        "env = 1979-05-27",
        "learner = {discount = nan}",
        "learner = 3",
        "snapshot_steps = 5",
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_ends_in_order_when_it_is_stopped(monkeypatch, capsys, number):
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    monkeypatch.setattr(ListNames, "run", lambda self: signal.raise_signal(number))
    try:
        refused(capsys, 130, "list")
    finally:
        signal.signal(signal.SIGHUP, before)


def test_names_that_are_not_utf_8_are_printed_with_escapes(monkeypatch, capsys):
    name = os.fsdecode(b"runs/\xff")
    monkeypatch.setattr(ListNames, "run", lambda self: print(name))
    main(["list"])
    assert capsys.readouterr().out == "runs/\\udcff\n"
    with pytest.raises(FreqdynaError):
        freqdyna.train(**small.SMALL, out="a\0b", progress=False)


def test_importing_the_package_is_light():
    code = (
        "import sys, freqdyna; heavy = {'jax', 'equinox', 'matplotlib', 'pyarrow', 'tyro', 'rich'}"
        "; assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
        "; assert set(dir(freqdyna)) >= {'train', 'resume', 'load', 'envs', 'Config'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
