"""`freqdyna sweep` and `freqdyna status` as a user types them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import QUICK, TEXT, Here, assert_complete, wait_for
from disturbed import marked, release
from rich.console import Console

from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep
from freqdyna.sweeps.status import Note, labels, read_status, stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training import engines, seeds

HELPERS = Path(__file__).parent
SHORT = QUICK.replace("number = 2", "number = 1")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(SHORT)
    return path


def test_a_sweep_from_the_command_line(file, tmp_path, capsys):
    out = str(tmp_path / "out")
    main(["sweep", str(file), "--out", out, "--dry-run"])
    told = capsys.readouterr().out
    assert "0 of 2 units done, 0 running, 2 waiting, 0 failed" in told
    assert not (tmp_path / "out").exists()
    main(["sweep", str(file), "--out", out, "--workers", "1"])
    told = capsys.readouterr().out
    assert "2 units, 800 environment steps; 0 are done" in told
    assert "eval_every 200" in told
    main(["status", out])
    assert "2 of 2 units done, 0 running, 0 waiting, 0 failed" in capsys.readouterr().out


def test_a_stopped_sweep_goes_on(file, tmp_path, reference, monkeypatch):
    file.write_text(QUICK)
    out = tmp_path / "out"
    arguments = ["sweep", str(file), "--out", str(out), "--workers", "1"]
    arguments += ["--checkpoint-seconds", "0"]
    first = subprocess.Popen(
        [sys.executable, str(HELPERS / "held_driver.py"), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background of a shell, SIGINT is ignored, and by children too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    [held] = wait_for(lambda: marked(out), lambda: first.poll() is None)
    os.killpg(first.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    release(out)
    told = first.communicate()[1]
    assert told.endswith("freqdyna: stopped; the same command resumes\n")
    assert "Traceback" not in told
    assert first.returncode == 130
    storage = Storage(str(out))
    copied = {name.split("/")[0] for name in storage.files("running") if "/checkpoint" in name}
    assert held in copied | stored_units(storage)
    monkeypatch.setattr(RunSweep, "_engine", lambda self: Here())  # without another process
    main(arguments)
    assert_complete(out, reference)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers", "0"], "workers is 0; it must be an integer, 1 or greater"),
        (["--units-per-gpu", "0"], "units_per_gpu is 0; it must be an integer, 1 or greater"),
        (["--checkpoint-seconds", "nan"], "checkpoint_seconds is nan; it must be 0 or greater"),
        (["--checkpoint-seconds", "-1"], "checkpoint_seconds is -1.0; it must be 0 or greater"),
        (["--address", "auto"], "address is 'auto'; it needs --engine ray"),
        (["--engine", "ray", "--workers", "2"], "workers is 2; it needs --engine local"),
    ],
)
def test_what_does_not_go_together_is_refused(file, tmp_path, arguments, message, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["sweep", str(file), "--out", str(tmp_path / "out"), *arguments])
    assert exited.value.code == 2
    assert message in capsys.readouterr().err


def test_a_unit_that_cannot_fit_into_memory_fails_with_its_size(
    file, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(RunSweep, "_engine", lambda self: Here())
    monkeypatch.setattr(seeds, "_free_memory", lambda: 8 * 2**30)
    file.write_text(SHORT.replace('"er"', '"dyna-uniform"\nqueue_size = 2147483647'))
    with pytest.raises(SystemExit) as exited:
        main(["sweep", str(file), "--out", str(tmp_path / "out")])
    assert exited.value.code == 1
    told = capsys.readouterr().err
    assert "2 of 2 units failed" in told
    assert "this run needs 16.0 GiB of memory" in told


def test_units_share_gpus(monkeypatch):
    monkeypatch.setattr(engines, "_gpus", lambda: ["0", "1"])
    assert engines.Local(tasks_per_gpu=4).slots() == 8
    assert engines.Local(3, tasks_per_gpu=4).slots() == 3


def test_no_sweep_there(tmp_path, capsys):
    for command, message in (
        (["status", str(tmp_path)], "is not a sweep: it has no sweep.toml"),
        (["sweep", str(tmp_path / "no.toml"), "--out", "x"], "no sweep file at"),
        (["sweep", str(tmp_path / "no.toml"), "--out", "nothing://x"], "no sweep file at"),
    ):
        with pytest.raises(SystemExit):
            main(command)
        assert message in capsys.readouterr().err


def test_units_are_named_by_what_differs_between_them():
    text = """
        settings = {algorithm = "naf", env = "Pendulum-v1", steps = 20}
        vary = {env_kwargs = [{g = 3.0}, {}]}
        seeds = {number = 1}
    """
    assert list(labels(Sweep.parse(text).units()).values()) == [
        "naf, env_kwargs g=3.0, seed 0",
        "naf, env_kwargs none, seed 0",
    ]
    envs = TEXT.replace("[vary]", '[vary]\nenv = ["GridWorld", "CartPole-v1"]')
    named = labels(Sweep.parse(envs.replace('env = "GridWorld"\n', "")).units())
    assert "er on CartPole-v1, learning_rate 0.001, seed 1" in named.values()


def test_the_status_names_every_unit(tmp_path):
    storage, units = Storage(str(tmp_path)), Sweep.parse(TEXT).units()
    note = Note(3000, 12_000, "mean return 1", time.time(), "[red]evil[/red]")
    storage.write_json(f"running/{units[0].name}.json", note._asdict())
    old = note._replace(time=0.0)
    storage.write_json(f"running/{units[2].name}.json", old._asdict())
    storage.write_json(f"failed/{units[1].name}.json", {"error": "[bold]oops\x1b[2J"})
    status = read_status(storage, units)
    assert status.headline() == "0 of 4 units done, 1 running, 2 waiting, 1 failed"
    # 9,000 steps of the one that runs and 24,000 of those that wait.
    storage.write_json("rate.json", {"rate": 600.0})
    status = read_status(storage, units)
    assert status.headline().endswith("1 failed, about 0:00:55 left")
    console = Console(width=150, record=True)
    console.print(status.render())
    text = console.export_text()
    assert "3,000 of 12,000" in text
    assert "er, learning_rate 0.001, seed 0" in text
    assert "[red]evil[/red]" in text  # names are text, not markup
    assert "[bold]oops [2J" in text
