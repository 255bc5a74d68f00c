"""Whatever goes wrong is told in one sentence, with exit status 1 or 2, and without a traceback."""

import errno
import os
import signal

import pytest
from small import SMALL, options

import freqdyna
from freqdyna import FreqdynaError
from freqdyna.cli.main import main
from freqdyna.cli.results import ListNames

OPTIONS = options(SMALL)


def told(capsys, status, *arguments):
    """The sentence that a failing command prints."""
    with pytest.raises(SystemExit) as exited:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr().err
    assert exited.value.code == status, printed
    assert printed.startswith("freqdyna: "), printed
    assert printed.count("\n") == 1, printed
    assert len(printed) < 1500
    return printed


def failing(monkeypatch, error):
    """Make `freqdyna list` raise an error."""

    def run(self):
        raise error

    monkeypatch.setattr(ListNames, "run", run)


def test_a_full_disk_is_one_sentence(monkeypatch, capsys):
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left", "a.txt"))
    assert "No space left: 'a.txt'" in told(capsys, 1, "list")


def test_an_error_in_code_has_its_traceback(monkeypatch, capsys):
    error = FileNotFoundError(errno.ENOENT, "No such file", "a.txt")
    error.add_note("MyEnv.reset must return an observation")
    for raised in (KeyError("x"), error):
        failing(monkeypatch, raised)
        with pytest.raises(SystemExit) as exited:
            main(["list"])
        printed = capsys.readouterr().err
        assert printed.startswith("Traceback (most recent call last):")
        assert "".join(getattr(raised, "__notes__", [])) in printed
        assert exited.value.code == 1


def test_a_traceback_is_printed_on_request(monkeypatch, capsys):
    failing(monkeypatch, FreqdynaError("no"))
    with pytest.raises(SystemExit) as exited:
        main(["--debug", "list"])
    printed = capsys.readouterr().err
    assert printed.startswith("Traceback (most recent call last):")
    assert printed.endswith("freqdyna: no\n")
    assert exited.value.code == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_ends_in_order_when_it_is_stopped(monkeypatch, capsys, number):
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    monkeypatch.setattr(ListNames, "run", lambda self: signal.raise_signal(number))
    try:
        assert told(capsys, 130, "list") == "freqdyna: interrupted\n"
    finally:
        signal.signal(signal.SIGHUP, before)


LONG = "x" * 300


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["train", *OPTIONS, f"--out={LONG}"], "which cannot be created: [Errno"),
        (["train", *OPTIONS, "--out=file"], "out is 'file', which exists; choose a new folder"),
        (["train", *OPTIONS, "--out=file/run"], "which cannot be created: [Errno"),
        (["train", *OPTIONS, "--out=pipe"], "out is 'pipe', which exists; choose a new folder"),
        (["train", "--config=."], "'.' cannot be read: [Errno 21] Is a directory"),
        (["train", f"--config={LONG}"], "File name too long"),
        (["train", "--config=\udcff"], r"no configuration file at \udcff"),
        (["train", "--env=\udcff"], r"unknown environment '\udcff'"),
        (["resume", "pipe"], "'pipe' is not a run folder"),
        (["resume", "file"], "'file' is not a run folder"),
        (["plot", "\udcff"], r"'\udcff' has no training"),
        (["sweep", LONG, "--out=out"], "File name too long"),
        (["status", "pipe"], "is not a sweep"),
        (["status", LONG], "File name too long"),
        (["report", "pipe", "--out=report.html"], "it must be a run folder"),
    ],
)
def test_odd_paths_are_refused(command, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    os.mkfifo("pipe")
    assert message in told(capsys, 2, *command)


def test_names_that_are_not_utf_8_are_printed_with_escapes(monkeypatch, capsys):
    name = os.fsdecode(b"runs/\xff")
    monkeypatch.setattr(ListNames, "run", lambda self: print(f"results: {name}"))
    main(["list"])
    assert capsys.readouterr().out == "results: runs/\\udcff\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps = " + "[" * 20_000, "config.toml is not a TOML file: "),
        ("steps = " + "9" * 5_000, "config.toml is not a TOML file: "),
        ("steps = '" + "x" * 50_000 + "'", "xxx...; it must be an integer"),
        (f"{'x' * 50_000} = 1", "unknown setting 'xxxx"),
        ("step = 1", "unknown setting 'step'; known, nearest first: steps"),
        ("steps = {a = 1}", "steps is {'a': 1}; it must be an integer, 1 or greater"),
        ("env = [['x']]", "env is (['x'],); it must be a name"),
        ("env = 1979-05-27", "env is datetime.date(1979, 5, 27); it must be a name"),
        ("discount = nan", "discount is nan; it must be between 0 and 1"),
        ("seeds = true", "seeds is True; it must be an integer, 1 or greater"),
        ("snapshot_steps = 5", "snapshot_steps is 5; it must be a tuple of steps"),
        ("steps = ", "config.toml is not a TOML file: Invalid value"),
        ("\x00", "config.toml is not a TOML file: Invalid statement"),
    ],
    ids=lambda text: text[:12],
)
def test_crafted_configuration_files_are_refused(text, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(text)
    assert message in told(capsys, 2, "train", "--config", "config.toml")
    for command in ("resume", "plot", "watch"):
        told(capsys, 2, command, ".")


def test_python_refuses_the_same_values():
    with pytest.raises(freqdyna.FreqdynaError, match="which cannot be created: embedded null byte"):
        freqdyna.train(**SMALL, out="a\0b", progress=False)
