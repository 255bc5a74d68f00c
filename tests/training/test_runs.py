import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pyarrow.parquet
import pytest
import small
from probes import ConstantReward

import freqdyna
from freqdyna import Config, FreqdynaError, envs
from freqdyna.cli.main import main
from freqdyna.core.files import load_arrays
from freqdyna.results.record import SECONDS
from freqdyna.training import checkpoint
from freqdyna.training.api import prepare
from freqdyna.training.checkpoint import RunOptions
from freqdyna.training.progress import Progress
from freqdyna.training.seeds import Block

SMALL = small.SMALL | {"progress": False}

NEVER = 1e9
"""Seconds between two checkpoints: at the end alone, however slow the machine is."""
EXAMPLES = Path(__file__).parents[2] / "examples"


def assert_same_outcome(first, second):
    """Equal metrics and equal last checkpoints, to the bit."""
    tables = (pyarrow.parquet.read_table(Path(f) / "metrics.parquet") for f in (first, second))
    a, b = (table.drop_columns([SECONDS]) for table in tables)
    assert a.schema == b.schema
    for name in a.column_names:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    names = [checkpoint.checkpoints(Path(f))[0].name for f in (first, second)]
    assert names[0] == names[1]
    for file in (names[0], "arrays.npz"):
        (a, note_a), (b, note_b) = (load_arrays(Path(f) / file) for f in (first, second))
        assert a.keys() == b.keys()
        assert note_a.get("step") == note_b.get("step")
        for name in a.keys() - {f"curve.{SECONDS}"}:
            np.testing.assert_array_equal(a[name], b[name], err_msg=f"{file}: {name}")


@pytest.fixture(scope="module")
def snapped(tmp_path_factory):
    """A run that nothing disturbs: its settings, its result and its folder.

    Its search-control has a memory, which must survive an interruption as well.
    """
    settings = SMALL | {"snapshot_steps": (25, 40, 90), "first_seed": 7, "devices": 1}
    settings |= {"algorithm": "dyna", "search_control": "particles:Particles"}
    settings |= {"search_control.particles": 5}
    folder = tmp_path_factory.mktemp("snapped") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        return settings, freqdyna.train(out=folder, **settings), folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A run of experience replay that nothing disturbs: its result and its folder."""
    folder = tmp_path_factory.mktemp("plain") / "run"
    return freqdyna.train(out=folder, checkpoint_seconds=NEVER, **SMALL), folder


def test_a_result_has_curves_parameters_and_a_folder(snapped, tmp_path):
    _, result, _ = snapped
    assert result.seeds.tolist() == [7, 8, 9]
    assert result.steps.tolist() == [20, 40, 60, 80, 90]
    assert result.returns.shape == (3, 5)
    assert np.isfinite(result.returns).all()
    assert np.isfinite(result.metrics["loss"]).all()
    assert result.network(8)(jnp.zeros(2)).shape == (4,)
    folder = result.save(tmp_path / "run")
    table = pyarrow.parquet.read_table(folder / "metrics.parquet").to_pylist()
    assert len(table) == 15
    for row in table:
        at = row["seed"] - 7, result.steps.tolist().index(row["step"])
        assert row["return"] == result.returns[at]

    again = freqdyna.load(folder)
    assert again.config == result.config
    np.testing.assert_array_equal(again.parameters, result.parameters)
    for name, values in result.metrics.items():
        np.testing.assert_array_equal(again.metrics[name], values)


def test_a_run_folder_holds_what_made_it(plain):
    _, folder = plain
    names = {path.name for path in folder.iterdir()}
    assert names > {"config.toml", "provenance.json", "metrics.parquet", "arrays.npz"}
    facts = json.loads((folder / "provenance.json").read_text())
    assert {"command", "date", "commit", "machine", "device_kind", "versions"} <= facts.keys()


def test_what_is_refused_leaves_folders_as_they_were(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FreqdynaError):
        freqdyna.train(out=tmp_path, **SMALL)
    for wrong in ({"algorithm": "err"}, {"env": "Gridworld"}, {"steps": -1}):
        with pytest.raises(FreqdynaError):
            freqdyna.train(out=tmp_path / "run", **(SMALL | wrong))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_environment_of_ones_own_trains_with_a_preset_and_resumes(tmp_path):
    settings = {k: v for k, v in SMALL.items() if k not in ("env", "env.episode_limit")}
    settings |= {"preset": "published", "out": tmp_path / "run"}
    result = freqdyna.train(ConstantReward(), **settings)
    assert np.all(result.returns == 1)
    assert result.provenance["preset"] == "published"
    assert result.config["learner.activation"] == "relu"
    with pytest.raises(FreqdynaError, match="ConstantReward"):
        freqdyna.resume(tmp_path / "run", progress=False)
    again = freqdyna.resume(tmp_path / "run", env=ConstantReward(), progress=False)
    np.testing.assert_array_equal(again.parameters, result.parameters)


def stop_after(monkeypatch, steps):
    """Make a run get SIGINT as soon as it has taken so many steps."""
    original = Block.advance

    def advance(self, state, start, stop):
        if stop >= steps:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, state, start, stop)

    monkeypatch.setattr(Block, "advance", advance)


def test_an_interrupted_run_resumes_to_the_same_bits(snapped, tmp_path, monkeypatch):
    settings, whole, folder = snapped
    assert list(whole.snapshots) == [25, 40, 90]
    with monkeypatch.context() as patch:
        stop_after(patch, 30)
        with pytest.raises(KeyboardInterrupt, match="freqdyna resume"):
            freqdyna.train(out=tmp_path / "parts", **settings)
    assert not (tmp_path / "parts" / "checkpoint-0000000090.npz").exists()
    parts = freqdyna.resume(tmp_path / "parts", progress=False)
    assert list(parts.snapshots) == [25, 40, 90]
    assert (np.diff(parts.metrics[SECONDS]) > 0).all()  # the time before the stop counts, too
    assert_same_outcome(folder, tmp_path / "parts")
    facts = json.loads((tmp_path / "parts" / "provenance.json").read_text())
    assert facts["continues"]["versions"] == facts["versions"]


def test_resume_refuses_what_would_overwrite_results(plain, tmp_path):
    result, folder = plain
    shutil.copytree(folder, tmp_path / "run")
    kept = (tmp_path / "run" / "metrics.parquet").read_bytes()
    other = envs.make("GridWorld", move_noise=0.5, episode_limit=30)
    with pytest.raises(FreqdynaError, match="GridWorld"):
        freqdyna.resume(tmp_path / "run", env=other, progress=False)
    result.save(tmp_path / "saved")
    with pytest.raises(FreqdynaError, match="checkpoint"):
        freqdyna.resume(tmp_path / "saved", progress=False)
    assert (tmp_path / "run" / "metrics.parquet").read_bytes() == kept


def test_a_diverged_seed_is_reported_and_the_others_go_on(plain):
    run = prepare(Config.of(small.SMALL))
    healthy_init = run.block.init

    def init():
        state = healthy_init()
        params = state.learner.params.at[1].set(np.inf)
        return eqx.tree_at(lambda s: s.learner.params, state, params)

    run.block.init = init
    with pytest.warns(UserWarning, match="seed 1"):
        result = run.execute(None, RunOptions(60.0))
    healthy, _ = plain
    assert result.metrics["diverged_at"][:, -1].tolist() == [-1, 11, -1]  # after the warm-up of 10
    for row in (0, 2):
        np.testing.assert_array_equal(result.returns[row], healthy.returns[row])
        np.testing.assert_array_equal(result.parameters[row], healthy.parameters[row])
    for name, values in result.metrics.items():
        assert name in ("diverged_at", SECONDS) or np.isnan(values[1]).all(), name


KILLED = """
import os, signal, sys
from freqdyna.cli.main import main
replace, files = os.replace, []
def die_before_the_last(partial, path):
    files.append(path)
    if len(files) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    replace(partial, path)
os.replace = die_before_the_last
main(sys.argv[2:])
"""


def test_a_run_killed_while_it_writes_a_file_resumes_to_the_same_bits(snapped, tmp_path):
    _, _, whole = snapped
    arguments = ["train", "--config", str(whole / "config.toml"), "--checkpoint-seconds=0"]
    arguments += ["--allow-code", "--out", str(tmp_path / "parts")]
    command = [sys.executable, "-c", KILLED, "8", *arguments]
    assert subprocess.run(command, cwd=EXAMPLES).returncode == -signal.SIGKILL
    assert len(list((tmp_path / "parts").glob(".*.partial"))) == 1
    steps = [int(p.stem.split("-")[1]) for p in checkpoint.checkpoints(tmp_path / "parts")]
    assert 0 < max(steps) < 90
    main(["resume", str(tmp_path / "parts")])
    assert_same_outcome(whole, tmp_path / "parts")


class Steps(Progress):
    """Keeps the steps at which it was updated."""

    def __init__(self):
        self.steps = []

    def update(self, step, text):
        self.steps.append(step)


def test_learning_begins_with_a_short_slice_however_fast_the_warm_up_is():
    told = Steps()
    settings = SMALL | {"warmup_steps": 7, "steps": 20, "eval_every": 20, "progress": told}
    freqdyna.train(algorithm="er", **settings)
    assert {7, 8} <= set(told.steps)
