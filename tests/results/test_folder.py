"""Run folders: one process at a time, and what is loaded is what was stored."""

import os
from dataclasses import replace

import numpy as np
import pytest
from flips import refused

import freqdyna
from freqdyna.agents.algorithms import completed
from freqdyna.config import Config
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import locked_folder
from freqdyna.results import folder as folders
from freqdyna.results.record import IMPORTED
from freqdyna.results.result import Result

CONFIG = completed(
    Config.of(
        {
            **{"env": "GridWorld", "seeds": 2, "first_seed": 3, "steps": 50, "eval_every": 20},
            **{"snapshot_steps": (25, 50), "learner.hidden": (4,)},
        }
    )
)


def a_result(config=CONFIG, **changes):
    rng = np.random.default_rng(0)
    result = Result(
        config=config,
        provenance={"commit": "abc", "versions": {"freqdyna": "0.2.0"}, "devices": 2},
        seeds=np.arange(3, 3 + config.seeds),
        steps=np.array([20, 40, 50]),
        metrics={
            "return": rng.normal(size=(config.seeds, 3)).astype(np.float32),
            "diverged_at": np.full((config.seeds, 3), -1),
        },
        parameters=rng.normal(size=(config.seeds, 32)).astype(np.float32),
        layer_sizes=(2, 4, 4),
        snapshots={s: {"queue": rng.normal(size=(config.seeds, 5, 2))} for s in (25, 50)},
    )
    return replace(result, **changes)


def is_same(one, other):
    return (
        (one.config, one.provenance, one.layer_sizes)
        == (other.config, other.provenance, other.layer_sizes)
        and np.array_equal(one.seeds, other.seeds)
        and np.array_equal(one.steps, other.steps)
        and np.array_equal(one.parameters, other.parameters)
        and list(one.metrics) == list(other.metrics)
        and all(np.array_equal(values, other.metrics[k]) for k, values in one.metrics.items())
        and list(one.snapshots) == list(other.snapshots)
        and all(
            np.array_equal(values, other.snapshots[step][name])
            for step, arrays in one.snapshots.items()
            for name, values in arrays.items()
        )
    )


@pytest.fixture
def folder(tmp_path):
    return a_result().save(tmp_path / "run")


@pytest.mark.parametrize("name", folders.FILES)
def test_no_flipped_bit_is_loaded_as_other_data(folder, name):
    contents = (folder / name).read_bytes()
    assert is_same(freqdyna.load(folder), a_result())

    def read(damaged):
        (folder / name).write_bytes(damaged)
        return freqdyna.load(folder)

    count = refused(contents, 100, read, lambda result: is_same(result, a_result()))
    assert count > 30 if name == folders.ARRAYS else count == 100


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("metrics.parquet", {"config": replace(CONFIG, first_seed=4), "seeds": np.array([4, 5])}),
        ("arrays.npz", {"parameters": np.ones((3, 32))}),
    ],
)
def test_files_of_another_run_are_not_those_of_the_run(name, changes):
    mixed = folders.encode(a_result()) | {name: folders.encode(a_result(**changes))[name]}
    with pytest.raises(DamagedFileError, match=name):
        folders.decode(mixed, Result)


def test_seeds_may_have_gaps_and_a_run_may_be_unfinished_or_without_arrays(tmp_path):
    """Blocks of a sweep that are not finished, merged and saved as a run."""
    some = a_result(seeds=np.array([3, 9]))
    assert is_same(freqdyna.load(some.save(tmp_path / "gap")), some)
    metrics = {name: values[:, :2] for name, values in a_result().metrics.items()}
    begun = a_result(steps=np.array([20, 40]), metrics=metrics)
    folder = begun.save(tmp_path / "begun")
    assert is_same(freqdyna.load(folder), begun)
    (folder / "arrays.npz").unlink()
    assert freqdyna.load(folder).parameters.shape == (2, 0)
    (folder / "metrics.parquet").unlink()
    with pytest.raises(FreqdynaError, match=r"no metrics\.parquet"):
        freqdyna.load(folder)


def test_imported_curves_may_have_any_steps(tmp_path):
    curves = a_result(
        provenance={IMPORTED: {"name": "ppo"}}, steps=np.array([1, 2, 70]), seeds=np.array([8, 2])
    )
    assert is_same(freqdyna.load(curves.save(tmp_path / "run")), curves)
    with pytest.raises(FreqdynaError, match="imported"):
        freqdyna.resume(tmp_path / "run", progress=False)


def test_one_process_at_a_time_works_on_a_run_folder(folder):
    before = sorted(path.name for path in folder.iterdir())
    with folders.opened_folder(folder) as messages:
        assert messages == []
        with pytest.raises(FreqdynaError, match=f"process {os.getpid()}"):
            freqdyna.resume(folder, progress=False)
        assert is_same(freqdyna.load(folder), a_result())  # reading needs no lock
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_new_folder_is_created_by_one_of_two(folder, tmp_path):
    with pytest.raises(FreqdynaError, match="out is"):
        a_result().save(folder)
    with (
        locked_folder(tmp_path / "starting"),  # the other has not written its settings yet
        pytest.raises(FreqdynaError, match=f"process {os.getpid()}"),
    ):
        a_result().save(tmp_path / "starting")


def test_a_folder_in_which_a_run_was_killed_at_its_start_can_be_used_again(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    for name in (".lock", "locked-by.txt", "provenance.json", ".config.toml.123-abcd.partial"):
        (path / name).touch()
    assert is_same(freqdyna.load(a_result().save(path)), a_result())
    assert not list(path.glob(".*.partial"))
