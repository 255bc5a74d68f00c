"""A sweep on the processes of one machine."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conftest import QUICK, TEXT, VARY, Here, assert_complete, failing_and_good, tables
from disturbed import Disturbing, KilledOnce, fake, marked
from small import TABULAR

import freqdyna
from freqdyna.config import Config
from freqdyna.core.files import load_arrays
from freqdyna.sweeps import execute
from freqdyna.sweeps.execute import execute_sweep, train_units
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep, SweepUnit
from freqdyna.training import engines
from freqdyna.training.api import prepare
from freqdyna.training.engines import Local, Task

SWEEP = Sweep.parse(QUICK)


def test_neither_more_workers_nor_one_that_is_killed_change_anything(tmp_path, reference):
    out = tmp_path / "out"
    engine = Disturbing(Local(2), KilledOnce, last=1)
    execute_sweep(QUICK, SWEEP, Storage(str(out)), engine, checkpoint_seconds=0.0)
    assert len(marked(out)) == 1
    assert_complete(out, reference)


def test_a_unit_that_kills_its_worker_takes_no_other_with_it(monkeypatch):
    monkeypatch.setattr(engines, "ATTEMPTS", 1)
    names = ["innocent 1", "deadly", "innocent 2"]
    tasks = [Task(name, partial(fake, name)) for name in names]
    outcomes = [outcome for outcome in Local(2).run(tasks) if outcome]
    assert {o.name: o.error for o in outcomes} == dict.fromkeys(names) | {
        "deadly": "its worker died 1 times"
    }


def test_only_what_is_missing_is_computed_and_more_seeds_add_units(tmp_path, reference):
    storage = Storage(str(tmp_path))
    fewer = Sweep.parse(QUICK.replace("number = 2", "number = 1"))
    execute_sweep("", fewer, storage, Here())
    paths = list(tmp_path.glob("units/*/metrics.parquet"))
    written = {path: path.stat().st_mtime_ns for path in paths}
    assert len(written) == 2
    execute_sweep(QUICK, SWEEP, storage, Here())
    assert_complete(tmp_path, reference)
    assert {path: path.stat().st_mtime_ns for path in paths} == written
    results = freqdyna.load_sweep(str(tmp_path))
    assert list(results) == ["eval_every 100", "eval_every 200"]
    assert [result.seeds.tolist() for result in results.values()] == [[0, 1]] * 2
    [pair] = freqdyna.compare(tmp_path).pairs
    assert (pair.second.label, pair.first.label) == (
        "er, eval every 100",
        "er, eval every 200",
    )


def test_a_unit_that_fails_leaves_the_others(tmp_path):
    text = failing_and_good()
    storage = Storage(str(tmp_path))
    status = execute_sweep(text, Sweep.parse(text), storage, Local(1))
    assert (len(status.done), len(status.failed)) == (1, 1)
    for error in status.failed.values():
        assert "algorithm is 'naf', but the actions of 'GridWorld' are discrete" in error
    assert list(freqdyna.load_sweep(str(tmp_path))) == ["algorithm er"]


def test_any_unit_goes_on_from_a_checkpoint_of_another_process_with_its_snapshots(tmp_path):
    """As units of the reproduction, whose trainings have snapshots."""
    config = replace(SWEEP.units()[0].config, snapshot_steps=(1, 60, 400))
    units = [SweepUnit(config)]
    whole, parted = Storage(str(tmp_path / "whole")), Storage(str(tmp_path / "parted"))
    status = execute.compute(iter(units), whole, Here(), title="a study")
    assert status.done == {units[0].name}
    engine = Disturbing(Local(1), KilledOnce)
    execute.compute(units, parted, engine, checkpoint_seconds=0.0)
    assert len(marked(parted.location)) == 1
    expected, record = (execute.load(storage, units[0]) for storage in (whole, parted))
    np.testing.assert_array_equal(record.parameters, expected.parameters)
    assert set(record.snapshots) == set(expected.snapshots) == {1, 60, 400}
    for step, snapshot in expected.snapshots.items():
        for name, values in snapshot.items():
            np.testing.assert_array_equal(record.snapshots[step][name], values)
    assert execute.compute(units, parted, engine).done == status.done  # without training


def test_a_unit_goes_on_from_its_last_checkpoint(tmp_path, reference, monkeypatch):
    unit = SWEEP.units()[0]
    kept, steps = [], []
    write, update = Storage.write, execute.UnitProgress.update

    class Stop(Exception):
        pass

    def until_a_checkpoint(storage, name, contents):
        write(storage, name, contents)
        if "/checkpoint" in name:
            kept.append(load_arrays(tmp_path / name)[1]["step"])
            if kept[-1] > 50:
                raise Stop

    def record_step(progress, step, *shown):
        steps.append(step)
        update(progress, step, *shown)

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "write", until_a_checkpoint)
        with pytest.raises(Stop):
            train_units(str(tmp_path), [unit], 0.0)
    monkeypatch.setattr(execute.UnitProgress, "update", record_step)
    train_units(str(tmp_path), [unit], 60.0)
    # The first slice is one step long, unless the checkpoint was written before its evaluation.
    assert steps[0] == kept[-1] + (kept[-1] % unit.config.eval_every != 0)
    table, expected = tables(tmp_path)[unit.name], reference.tables[unit.name]
    for column in ("return", "loss"):
        np.testing.assert_array_equal(table[column].to_numpy(), expected[column].to_numpy())


def test_a_unit_of_gymnasium_is_trained_as_train_would(tmp_path):
    settings = {"env": "MountainCarContinuous-v0", "algorithm": "naf", "steps": 20}
    settings |= {"warmup_steps": 10}
    table = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    text = f"[settings]\n{table}\n[seeds]\nnumber = 1"
    sweep = Sweep.parse(text)
    storage, [unit] = Storage(str(tmp_path)), sweep.units()
    storage.write("sweep.toml", sweep.stored(text))
    train_units(str(tmp_path), [unit], 60.0)
    [result] = freqdyna.load_sweep(str(tmp_path)).values()
    of_train = prepare(Config(**settings, seeds=1, devices=1)).config
    assert result.config == of_train
    assert (of_train.planning_steps, of_train.model, of_train.episode_limit) == (5, "learned", 999)


@pytest.mark.default_compiler
def test_a_unit_is_what_train_computes(tmp_path):
    settings = {k: v for k, v in TABULAR.items() if k not in ("seeds", "devices")}
    table = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    text = f"[settings]\n{table}\n[seeds]\nnumber = 2"
    storage = Storage(str(tmp_path))
    execute_sweep(text, Sweep.parse(text), storage, Here())
    [result] = freqdyna.load_sweep(str(tmp_path)).values()
    trained = freqdyna.train(**TABULAR, progress=False)
    np.testing.assert_array_equal(result.parameters, trained.parameters)
    np.testing.assert_array_equal(result.returns, trained.returns)


def test_numbers_that_are_equal_are_one_unit():
    def names(values):
        text = TEXT.replace(VARY, f"discount = {values}")
        return [unit.name for unit in Sweep.parse(text).units()]

    assert names([1]) == names([1.0]) == names([1, 1.0])
    assert names([0.0]) == names([-0.0]) != names([1])
