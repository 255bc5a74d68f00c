"""A run that is killed, or cannot write or read its files, resumes to the same bits.

The block of these tests computes with NumPy, so that nothing is compiled.
"""

import dataclasses
import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freqdyna.agents.dyna.state import DynaState
from freqdyna.config import Config
from freqdyna.core import files
from freqdyna.core.errors import FreqdynaError, RunFailedError
from freqdyna.results.folder import has_results, new_folder, opened_folder
from freqdyna.results.result import load
from freqdyna.training import checkpoint
from freqdyna.training import run as training_run
from freqdyna.training.api import prepare
from freqdyna.training.checkpoint import RunOptions
from freqdyna.training.progress import Progress
from freqdyna.training.seeds import Block

CONFIG = Config.of(
    {
        **{"env": "GridWorld", "seeds": 2, "steps": 12, "eval_every": 4},
        **{"snapshot_steps": (2, 5, 9), "learner.hidden": (2,)},
    }
)
OPTIONS = RunOptions(0.0)
"""Save after every slice."""


class Numbers(DynaState):
    """The state of all seeds: one number each."""

    x: Any

    def __init__(self, x):
        for field in dataclasses.fields(DynaState):
            setattr(self, field.name, None)
        self.x = x


class Counting(Block):
    """Steps that depend on all steps before, so that a wrong state leads to other numbers."""

    def init(self):
        return Numbers(np.arange(1, 3, dtype=np.float32))

    def advance(self, state, start, stop):
        x = state.x
        for t in range(start, stop):
            x = np.float32(0.9) * x + np.float32(t)
        return Numbers(x)

    def evaluate(self, state, step):
        return state, {"return": state.x + step, "diverged_at": np.full(2, -1)}

    def snapshot(self, state, step):
        return {"queue": state.x[:, None] + step}

    def parameters(self, state):
        return np.tile(state.x[:, None], (1, 18))  # as many as the network would have

    def to_checkpoint(self, state):
        return state

    def state_structure(self):
        return self.init()

    def from_checkpoint(self, saved, facts):
        return saved


class Told(Progress):
    """Keeps the warnings, and does what a test wants at each step."""

    def __init__(self, at_each_step=lambda step: None):
        self.warnings, self._do = [], at_each_step

    def warn(self, text):
        self.warnings.append(text)

    def update(self, step, last):
        self._do(step)


class Killed(BaseException):
    """What a signal does that cannot be caught."""


def kill_at(last):
    def kill(step):
        if step >= last:
            raise Killed

    return kill


@pytest.fixture(scope="module", autouse=True)
def _one_step_a_slice():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training_run, "SECONDS_A_SLICE", 0.0)
        patched.setattr(files.os, "fsync", lambda number: None)  # no power is cut here
        yield


@pytest.fixture(scope="module")
def execute():
    """Start or resume a run in a folder; returns its result and what it told."""
    prepared = prepare(CONFIG)

    def run_in(folder: Path, at_each_step=lambda step: None):
        run = type(prepared)(
            prepared.config,
            Counting(prepared.block.training, prepared.block.layout),
            dict(prepared.provenance),
        )
        told = Told(at_each_step)
        if (folder / "config.toml").exists():
            with opened_folder(folder) as messages:
                return run.execute(folder, OPTIONS, told, messages), told
        with new_folder(folder) as new:
            return run.execute(new, OPTIONS, told), told

    return run_in


def assert_same(result, folder, whole):
    """A result, and what is loaded from its folder, are those of an undisturbed run."""
    for one in (result, load(folder)):
        assert one.steps.tolist() == [4, 8, 12]
        np.testing.assert_array_equal(one.returns, whole.returns)
        np.testing.assert_array_equal(one.parameters, whole.parameters)
        assert list(one.snapshots) == list(whole.snapshots)
        for step, arrays in whole.snapshots.items():
            np.testing.assert_array_equal(one.snapshots[step]["queue"], arrays["queue"])


@pytest.fixture(scope="module")
def whole(execute, tmp_path_factory):
    """A run that nothing disturbs."""
    return execute(tmp_path_factory.mktemp("whole") / "run")[0]


@pytest.fixture
def folder(execute, tmp_path):
    """The folder of a run that was killed at step 10; its checkpoints are of steps 9 and 8."""
    with pytest.raises(Killed):
        execute(tmp_path / "run", kill_at(10))
    return tmp_path / "run"


def full_disk(monkeypatch, is_full):
    """Make writing fail for the files for which `is_full` is true."""
    write = files.os.fsync

    def fsync(number):
        name = os.readlink(f"/proc/self/fd/{number}").rsplit("/", 1)[-1]
        if name.endswith(".partial") and is_full(name.split(".")[1]):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(number)

    monkeypatch.setattr(files.os, "fsync", fsync)


@pytest.mark.parametrize("what", ["checkpoint", "metrics"])
def test_a_run_continues_while_the_disk_is_full(execute, whole, tmp_path, monkeypatch, what):
    now = [0]
    with monkeypatch.context() as patched:
        full_disk(patched, lambda name: name.startswith(what) and 1 < now[0] < 10)
        result, told = execute(tmp_path / "run", lambda step: now.__setitem__(0, step))
    assert_same(result, tmp_path / "run", whole)
    assert len(told.warnings) == 1
    assert not list((tmp_path / "run").glob(".*.partial"))


@pytest.mark.parametrize("what", ["checkpoint", "metrics", "arrays", "provenance"])
def test_a_run_that_cannot_be_saved_at_its_end_resumes_to_the_same_bits(
    execute, whole, tmp_path, monkeypatch, what
):
    """Whether the checkpoint is written and the results are not, or the reverse."""
    now = [0]
    with monkeypatch.context() as patched:
        full_disk(patched, lambda name: name.startswith(what) and now[0] > 8)
        with pytest.raises(RunFailedError, match="No space"):
            execute(tmp_path / "run", lambda step: now.__setitem__(0, step))
    if has_results(tmp_path / "run"):
        load(tmp_path / "run")  # what is there is complete
    assert_same(execute(tmp_path / "run")[0], tmp_path / "run", whole)


@pytest.mark.parametrize("last", [1, 2, 4, 5, 10, 12])
def test_a_killed_run_resumes_to_the_same_bits(execute, whole, tmp_path, last):
    with pytest.raises(Killed):
        execute(tmp_path / "run", kill_at(last))
    result, told = execute(tmp_path / "run")
    assert_same(result, tmp_path / "run", whole)
    assert told.warnings == []


@pytest.mark.parametrize("name", ["metrics.parquet", "arrays.npz", "checkpoint"])
def test_one_flipped_bit_is_told_and_does_not_block_a_resume(execute, whole, folder, name):
    """Results are written again; instead of the newest checkpoint, the one before is used."""
    path = checkpoint.checkpoints(folder)[0] if name == "checkpoint" else folder / name
    damaged = bytearray(path.read_bytes())
    damaged[200] ^= 1
    path.write_bytes(damaged)
    if name != "checkpoint":
        with pytest.raises(FreqdynaError, match=name):
            load(folder)
    result, told = execute(folder)
    assert_same(result, folder, whole)
    if name == "checkpoint":
        assert path.name in told.warnings[0]
        assert path.with_name(f"damaged-{path.name}").exists()
