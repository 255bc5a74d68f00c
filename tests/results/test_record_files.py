"""One reader for every stored training, of this version and of version 0.1."""

import sys
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna.config import Config
from freqdyna.core.errors import DamagedFileError
from freqdyna.core.tables import decode_table, encode_table, find_table, write_table
from freqdyna.results.record import Record
from freqdyna.results.record_files import DamagedArraysError, decode_record, encode_record

VERSION_0_1 = Path(__file__).parents[1] / "fixtures" / "version-0.1"


def a_record(**changes):
    config = Config(env="MazeGridWorld", seeds=2, first_seed=3, steps=50, eval_every=20)
    record = Record(
        config=config,
        provenance={"commit": "abc"},
        seeds=np.array([3, 4]),
        steps=np.array([20, 40, 50]),
        metrics={"return": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]], np.float32)},
        parameters=np.arange(12, dtype=np.float32).reshape(2, 6),
        layer_sizes=(2, 2),
        snapshots={
            50: {
                "queue": np.zeros((2, 5, 2), np.float16),
                "own": np.array([[0.5], [-3.0]], jnp.bfloat16),
            }
        },
    )
    return replace(record, **changes)


def assert_equal(one, other):
    assert (one.config, one.provenance) == (other.config, other.provenance)
    assert one.layer_sizes == other.layer_sizes
    for name in ("seeds", "steps", "parameters"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert list(one.metrics) == list(other.metrics)
    for name, values in one.metrics.items():
        np.testing.assert_array_equal(values, other.metrics[name])
        assert values.dtype == other.metrics[name].dtype
    assert list(one.snapshots) == list(other.snapshots)
    for step, arrays in one.snapshots.items():
        for name, values in arrays.items():
            np.testing.assert_array_equal(values, other.snapshots[step][name])
            assert values.dtype == other.snapshots[step][name].dtype


@pytest.mark.parametrize("pyarrow", [True, False])
def test_what_is_encoded_is_decoded(pyarrow, monkeypatch):
    with monkeypatch.context() as patched:
        if not pyarrow:
            patched.setitem(sys.modules, "pyarrow", None)
        files = encode_record(a_record())
        assert (files.table[:4] == b"PAR1") == pyarrow
        if not pyarrow:
            assert_equal(decode_record(*files), a_record())
    assert_equal(decode_record(*files), a_record())
    without = decode_record(files.table, None)
    assert (without.parameters.shape, without.snapshots) == ((2, 0), {})


def test_rows_are_matched_by_seed_and_step():
    columns, facts = decode_table(encode_record(a_record()).table)
    order = np.array([4, 0, 5, 2, 1, 3])
    shuffled = encode_table({name: values[order] for name, values in columns.items()}, facts)
    assert_equal(decode_record(shuffled, encode_record(a_record()).arrays), a_record())


def test_an_unfinished_training_is_read_with_its_configuration():
    metrics = {"return": np.ones((2, 2))}
    files = encode_record(a_record(steps=np.array([20, 40]), metrics=metrics))
    assert decode_record(*files, config=a_record().config).steps.tolist() == [20, 40]
    with pytest.raises(DamagedFileError, match="it has 4 rows, not 6"):
        decode_record(*files)
    skipped = encode_record(a_record(steps=np.array([20, 50]), metrics=metrics))
    with pytest.raises(DamagedFileError, match="its column step does not match its settings"):
        decode_record(*skipped, config=a_record().config)


def test_what_does_not_fit_the_settings_is_refused():
    for changes, message in (
        ({"seeds": np.array([4, 5])}, "its column seed does not match"),
        ({"seeds": np.array([3, 3])}, "its column seed does not match"),
        ({"steps": np.array([20, 40, 41])}, "its column step does not match"),
        ({"metrics": {"return": np.full((2, 3), "x")}}, "its column 'return' is not numeric"),
        ({"metrics": {"loss": np.ones((2, 3))}}, "it has no column return"),
    ):
        with pytest.raises(DamagedFileError, match=message):
            decode_record(*encode_record(a_record(**changes)))
    table, arrays = encode_record(a_record())
    for damaged in (arrays[:-30], b"", encode_record(a_record(parameters=np.ones((3, 6)))).arrays):
        with pytest.raises(DamagedArraysError):
            decode_record(table, damaged)


def test_a_table_has_one_file(tmp_path, monkeypatch):
    """The newest, whether pyarrow was there or not."""
    path, columns = tmp_path / "a.b.parquet", {"name": np.array(["x", "y"]), "n": np.arange(2)}
    assert find_table(path) is None
    for pyarrow, name in ((True, "a.b.parquet"), (False, "a.b.npz"), (True, "a.b.parquet")):
        with monkeypatch.context() as patched:
            if not pyarrow:
                patched.setitem(sys.modules, "pyarrow", None)
            write_table(path, encode_table(columns, {"fact": 1}))
        assert [file.name for file in tmp_path.iterdir()] == [name]
        found, facts = decode_table(find_table(path).read_bytes())
        assert found["name"].tolist() == ["x", "y"]
        assert facts == {"fact": 1}


def test_files_of_different_trainings_are_not_mixed():
    table, _ = encode_record(a_record())
    other = replace(a_record().config, discount=0.5)
    _, arrays = encode_record(a_record(config=other))
    with pytest.raises(DamagedArraysError, match="it belongs to another run"):
        decode_record(table, arrays)
    with pytest.raises(DamagedFileError, match="it has other settings: it belongs to another run"):
        decode_record(table, None, config=other)


def test_a_run_folder_of_version_0_1_is_read():
    result = freqdyna.load(VERSION_0_1 / "interrupted")
    assert result.config.algorithm == "dyna-frequency"
    assert result.returns.shape == (result.config.seeds, len(result.steps))
    assert result.layer_sizes[0] == 2
    assert result.seed_parameters(result.seeds[0]).size


def test_a_sweep_of_version_0_1_is_read():
    for result in freqdyna.load_sweep(str(VERSION_0_1 / "sweep")).values():
        assert result.returns.shape == (result.config.seeds, len(result.steps))
        assert result.parameters.size
        assert result.layer_sizes
