"""A sweep on the processes of one machine: interrupted, extended, or with units that fail."""

import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import small
from disturbed import Disturbing, KilledOnce, imitation, marked, release
from sweeping import HALF, QUICK, Here, assert_complete, stored, wait_for

import freqdyna
from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep
from freqdyna.sweeps import execute
from freqdyna.sweeps.execute import execute_sweep, train_units
from freqdyna.sweeps.status import stored_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep, SweepUnit
from freqdyna.training import engines
from freqdyna.training.engines import Local, Task

SWEEP = Sweep.parse(QUICK)


def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    """Also of a unit that no sweep file has, such as one of the reproduction with snapshots."""
    units = [SweepUnit(replace(SWEEP.units()[0].config, snapshot_steps=(1, 60, 400)))]
    whole, parted = Storage(str(tmp_path / "whole")), Storage(str(tmp_path / "parted"))
    execute.compute(iter(units), whole, Here(), title="a study")
    engine = Disturbing(Local(1), KilledOnce)
    execute.compute(units, parted, engine, checkpoint_seconds=0.0)
    assert len(marked(parted.location)) == 1
    assert_complete(parted.location, stored(whole.location))
    assert set(execute.load(parted, units[0].name).snapshots) == {1, 60, 400}
    assert len(execute.compute(units, parted, engine).done) == 1  # without training


def test_a_stopped_sweep_goes_on(tmp_path, reference, monkeypatch):
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    file.write_text(QUICK)
    arguments = ["sweep", str(file), "--out", str(out), "--workers", "1"]
    arguments += ["--checkpoint-seconds", "0"]
    driver = Path(__file__).parent / "held_driver.py"
    with subprocess.Popen(
        [sys.executable, str(driver), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background of a shell, SIGINT is ignored, and by children too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as first:
        [held] = wait_for(lambda: marked(out), lambda: first.poll() is None)
        os.killpg(first.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        release(out)
        errors = first.communicate()[1]
    assert "Traceback" not in errors
    assert first.returncode == 130
    storage = Storage(str(out))
    copied = {name.split("/")[0] for name in storage.files("running") if "/checkpoint" in name}
    assert held in copied | stored_units(storage)
    monkeypatch.setattr(RunSweep, "_engine", lambda self: Here())  # without another process
    main(arguments)
    assert_complete(out, reference)
    results = freqdyna.load_sweep(str(out))
    assert list(results) == ["eval_every 100", "eval_every 200"]
    assert [result.seeds.tolist() for result in results.values()] == [[0, 1]] * 2


def test_a_unit_goes_on_from_its_last_checkpoint(tmp_path, reference, monkeypatch):
    unit, update, steps = SWEEP.units()[0], execute.UnitProgress.update, []

    class Stop(Exception):
        """It has checkpoints."""

    def stop_at_200(progress, step, *last):
        update(progress, step, *last)
        steps.append(step)
        if step == 200:
            raise Stop

    with monkeypatch.context() as patched:
        patched.setattr(execute.UnitProgress, "update", stop_at_200)
        for _ in range(2):
            with pytest.raises(Stop):
                train_units(str(tmp_path), [unit], 0.0)
    assert steps[0] == 1
    assert steps[-2:] == [200, 200]  # the second time, it is there at once
    train_units(str(tmp_path), [unit], 0.0)
    assert_complete(tmp_path, {unit.name: reference[unit.name]})


def test_a_unit_that_fails_leaves_the_others_and_is_computed_once_it_can_be(tmp_path, monkeypatch):
    storage, write, written = Storage(str(tmp_path)), Storage.write, []

    def full(storage, name, contents):
        if name.startswith("units/"):
            if len(written) >= 6:  # a unit and a half
                raise OSError(errno.ENOSPC, "No space left on device")
            written.append(name)
        write(storage, name, contents)

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "write", full)
        status = execute_sweep(Sweep.parse(HALF), storage, Here())
    assert (len(status.done), len(status.failed)) == (1, 1)
    assert all(status.failed.values())  # with reasons
    assert len(execute_sweep(Sweep.parse(HALF), storage, Here()).done) == 2
    results = freqdyna.load_sweep(str(tmp_path)).values()
    assert [result.returns.shape for result in results] == [(1, 4), (1, 2)]


def test_a_task_that_kills_its_worker_takes_no_other_with_it(monkeypatch):
    monkeypatch.setattr(engines, "ATTEMPTS", 1)
    names = ["innocent", "deadly", "failing"]
    tasks = [Task(name, partial(imitation, name)) for name in names]
    outcomes = {one.name: one.error for one in Local(2).run(tasks) if one}
    assert set(outcomes) == set(names)
    assert outcomes["innocent"] is None
    assert "died" in outcomes["deadly"]
    assert outcomes["failing"] == "it failed"


@pytest.mark.default_compiler
def test_a_unit_is_what_train_computes(tmp_path):
    settings = {k: v for k, v in small.QUICK.items() if k not in ("seeds", "devices")}
    table = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    sweep = Sweep.parse(f"[settings]\n{table}\n[seeds]\nnumber = 2")
    execute_sweep(sweep, Storage(str(tmp_path)), Here())
    [result] = freqdyna.load_sweep(str(tmp_path)).values()
    trained = freqdyna.train(**small.QUICK, progress=False)
    np.testing.assert_array_equal(result.parameters, trained.parameters)
    np.testing.assert_array_equal(result.returns, trained.returns)
