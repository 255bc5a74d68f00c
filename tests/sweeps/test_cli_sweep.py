"""`freqdyna sweep` and `freqdyna status` as a user types them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from conftest import QUICK, TEXT, Here, assert_complete, wait_for
from disturbed import marked, release
from rich.console import Console

from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep
from freqdyna.config import Config
from freqdyna.sweeps import estimate
from freqdyna.sweeps.status import Status, read_status
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.sweeps.view import describe, headline, render
from freqdyna.training import memory, prepare
from freqdyna.training.engines import local

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
    assert "2 units, 0 of them done; the rest is 800 environment steps, about " in told
    assert "including compilation" in told
    assert not (tmp_path / "out").exists()
    main(["sweep", str(file), "--out", out, "--workers", "1"])
    told = capsys.readouterr().out
    assert "2 units, 800 environment steps; 0 are done" in told
    assert "eval_every 200" in told
    main(["status", out])
    assert "2 of 2 units done, 0 running, 0 waiting, 0 failed" in capsys.readouterr().out


def test_every_kind_of_unit_is_timed(monkeypatch):
    vary = "[vary]\nbatch_size = [4, 8]\nhidden = [[8], [16]]"
    text = TEXT.replace("[vary]", vary).replace("batch_size = 4\nhidden = [8]\n", "")
    monkeypatch.setattr(
        estimate,
        "measure",
        lambda config, version: estimate.Costs(config.batch_size / 1000, 5.0, start=100.0),
    )
    units = Sweep.parse(text).units()
    assert len({estimate.kind(unit.config) for unit in units}) == 4  # of 16 units
    work = 16 * (12_000 * 0.006 + 4 * 5.0)

    def seconds(slots):
        return estimate.estimate(units, slots).seconds - estimate.WORKER_START

    # There are 8 programs with two blocks of seeds each: alone, a worker compiles each once.
    assert seconds(1) == pytest.approx(work + 8 * 100.0)
    assert seconds(2) == pytest.approx((work + 16 * 100.0) / 2)
    assert seconds(1000) == seconds(16) == pytest.approx((work + 16 * 100.0) / 16)
    assert estimate.estimate([], 2).seconds == 0


def test_the_start_is_measured_separately_from_steps_and_evaluations(monkeypatch):
    # Begin and end of: the start, 100 steps, the first evaluation, the second evaluation.
    clock = iter([0.0, 50.0, 100.0, 101.0, 200.0, 210.0, 300.0, 307.0])
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: next(clock))
    block, called = MagicMock(), []
    block.evaluate.side_effect = lambda state, step: (called.append(step), {})
    monkeypatch.setattr(prepare, "prepare_run", lambda *_, **__: MagicMock(block=block))
    costs = estimate.measure(Config(eval_every=100, steps=1_000))
    assert costs == estimate.Costs(step=1.0 / estimate.STEPS, evaluation=7.0, start=50.0 + 3.0)
    assert len(called) == 2
    assert costs.of(Config(eval_every=300, steps=1_000)) == pytest.approx(10.0 + 4 * 7.0)
    episodes = {estimate.kind(Config(eval_episodes=number)) for number in (1, 5)}
    assert len(episodes) == 2  # of which evaluations take as many times as long


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
    assert held in storage.units("running", ".npz") | storage.units("units", ".parquet")
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
    monkeypatch.setattr(memory, "available_memory", lambda: 8 * 2**30)
    file.write_text(SHORT.replace('"er"', '"dyna-uniform"\nqueue_size = 2147483647'))
    with pytest.raises(SystemExit) as exited:
        main(["sweep", str(file), "--out", str(tmp_path / "out")])
    assert exited.value.code == 1
    told = capsys.readouterr().err
    assert "2 of 2 units failed" in told
    assert "this run needs about 32 GiB of memory (queue_size 2,147,483,647: 32 GiB)" in told


def test_units_share_gpus(monkeypatch):
    monkeypatch.setattr(local, "_gpus", lambda: ["0", "1"])
    assert local.Local(tasks_per_gpu=4).slots() == 8
    assert local.Local(3, tasks_per_gpu=4).slots() == 3


def test_no_sweep_there(tmp_path, capsys):
    for command, message in (
        (["status", str(tmp_path)], "is not a sweep: it has no sweep.toml"),
        (["sweep", str(tmp_path / "no.toml"), "--out", "x"], "no sweep file at"),
        (["sweep", str(tmp_path / "no.toml"), "--out", "nothing://x"], "no sweep file at"),
    ):
        with pytest.raises(SystemExit):
            main(command)
        assert message in capsys.readouterr().err


def test_arguments_of_environments_are_spelled_as_on_the_command_line():
    text = """
        settings = {algorithm = "naf", env = "Pendulum-v1", steps = 20}
        vary = {env_kwargs = [{g = 3.0}, {}]}
        seeds = {number = 1}
    """
    assert [describe(unit, ["env_kwargs"]) for unit in Sweep.parse(text).units()] == [
        "naf on Pendulum-v1, env_kwargs g=3.0, seed 0",
        "naf on Pendulum-v1, env_kwargs none, seed 0",
    ]


def test_the_view_tells_of_every_unit(tmp_path):
    storage, units = Storage(str(tmp_path)), Sweep.parse(TEXT).units()
    note = {"step": 3000, "steps": 12_000, "seconds_left": 30.0, "time": time.time()}
    storage.write_json(f"running/{units[0].name}.json", note | {"host": "[red]evil[/red]"})
    storage.write_json(f"failed/{units[1].name}.json", {"error": "[bold]oops"})
    status = read_status(storage, units)
    # The one that runs has 30 s left, and two more take 40 s each.
    assert headline(status, 2) == (
        "0 of 4 units done, 1 running, 2 waiting, 1 failed, about 0:00:55 left"
    )
    console = Console(width=150, record=True)
    console.print(render(status, 2, ["learning_rate"]))
    told = console.export_text()
    assert "3,000 of 12,000" in told
    assert "er on GridWorld, learning_rate 0.001, seed 0" in told
    assert "[red]evil[/red]" in told  # names are text, not markup
    assert "[bold]oops" in told
    assert Status(units, set(), {}, {}).seconds_left(2) is None
    assert Status(units[:1], set(), status.running, {}).seconds_left(8) == 30.0
    for unit in units[:2]:  # of one program: they end at the same time
        storage.write_json(f"running/{unit.name}.json", note | {"together": 2})
    status = read_status(storage, units[:2])
    assert (len(status.running), status.programs, status.seconds_left(2)) == (2, 1.0, 30.0)
