"""Run folders: one process at a time, and what is loaded is what was stored."""

import json
import os
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest
from flips import refused

import freqdyna
from freqdyna.config import Config
from freqdyna.core.arrays import load_arrays, save_arrays
from freqdyna.core.checksums import toml_with_checksum
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.lock import locked_folder
from freqdyna.core.tables import decode_table, encode_table
from freqdyna.results import run_folder
from freqdyna.results.record_files import note_of
from freqdyna.results.result import Result

CONFIG = Config(
    env="GridWorld",
    seeds=2,
    first_seed=3,
    steps=50,
    eval_every=20,
    hidden=(4,),
    snapshot_steps=(25, 50),
).resolved()
SNAPSHOT = "snapshot-0000000025.npz"


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


@pytest.mark.parametrize(
    "name", ["config.toml", "provenance.json", "metrics.parquet", "parameters.npz", SNAPSHOT]
)
def test_no_flipped_bit_is_loaded_as_other_data(folder, name):
    contents = (folder / name).read_bytes()
    assert is_same(freqdyna.load(folder), a_result())

    def read(damaged):
        (folder / name).write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", f".*{name} is damaged")  # the others are loaded
            try:
                return freqdyna.load(folder)
            except UserWarning as warning:
                raise FreqdynaError(str(warning)) from None

    assert refused(contents, 120, read, lambda found: is_same(found, a_result())) > 30


def test_files_of_another_run_are_refused(folder, tmp_path):
    other = a_result(replace(CONFIG, discount=0.5)).save(tmp_path / "other")
    for name, message in (
        ("metrics.parquet", r"metrics\.parquet is damaged .it has other settings: it belongs to"),
        ("parameters.npz", r"parameters\.npz is damaged .it belongs to another run"),
        ("provenance.json", r"provenance\.json is damaged .it belongs to another run"),
    ):
        shutil.copy(folder / name, tmp_path / "kept")
        shutil.copy(other / name, folder / name)
        with pytest.raises(FreqdynaError, match=message):
            freqdyna.load(folder)
        shutil.copy(tmp_path / "kept", folder / name)
    shutil.copy(other / SNAPSHOT, folder / SNAPSHOT)
    with pytest.warns(match=f"{SNAPSHOT} is damaged .it belongs to another run.; it is left out"):
        assert list(freqdyna.load(folder).snapshots) == [50]


@pytest.mark.parametrize("name", ["parameters.npz", SNAPSHOT])
@pytest.mark.parametrize("change", ["missing", "added", "shorter"])
def test_arrays_that_a_script_changed_are_refused(folder, name, change):
    """With correct checksums, as by a script that writes the file again with the same note."""
    arrays, note = load_arrays(folder / name)
    arrays |= {"layer_sizes" if name == "parameters.npz" else "queue": np.zeros((0,), int)}
    if change == "missing":
        arrays.popitem()
    if change == "added":
        arrays = load_arrays(folder / name)[0] | {"snapshot/25/extra": np.zeros((2, 1))}
    save_arrays(folder / name, arrays, note)
    message = f"{name} is damaged .its arrays are not those that its note lists"
    if name == SNAPSHOT:
        with pytest.warns(match=message):
            assert list(freqdyna.load(folder).snapshots) == [50]
    else:
        with pytest.raises(FreqdynaError, match=message):
            freqdyna.load(folder)


def test_damaged_snapshots_are_left_out_with_a_warning(folder):
    arrays = {"queue": np.zeros((2, 5, 2))}
    for contents, note, message in (
        (arrays, {"step": 26}, "its step is not the one in its name"),
        (arrays, {"step": "25"}, "its step is not the one in its name"),
        (arrays, {}, "its step is not the one in its name"),
        ({"queue": np.zeros((3, 5, 2))}, {"step": 25}, r"has shape \(3, 5, 2\)"),
        ({"queue": np.full((2, 5), "x")}, {"step": 25}, "type <U1 for 2 seeds"),
    ):
        written = note_of(CONFIG, contents)
        save_arrays(folder / SNAPSHOT, contents, written | note)
        with pytest.warns(match=message):
            assert list(freqdyna.load(folder).snapshots) == [50]
    (folder / SNAPSHOT).unlink()
    os.mkfifo(folder / SNAPSHOT)
    with pytest.warns(match=f"{SNAPSHOT} is damaged .it is not a regular file"):
        assert list(freqdyna.load(folder).snapshots) == [50]


def test_rows_are_matched_by_seed_and_step(folder):
    path = folder / "metrics.parquet"
    columns, facts = decode_table(path.read_bytes())
    order = np.array([4, 0, 5, 2, 1, 3])
    path.write_bytes(encode_table({k: v[order] for k, v in columns.items()}, facts))
    assert is_same(freqdyna.load(folder), a_result())
    for changes, message in (
        ({"seed": columns["seed"] + 1}, "its column seed does not match its settings"),
        ({"seed": columns["seed"] - 1}, "its column seed does not match its settings"),
        ({"step": columns["step"] + 1}, "its column step does not match its settings"),
        ({"step": columns["step"].astype(float)}, "its column step does not have integers"),
        ({"seed": np.array([3, 3, 3, 3, 4, 4])}, "one row for each seed and evaluation"),
    ):
        path.write_bytes(encode_table(columns | changes, facts))
        with pytest.raises(FreqdynaError, match=message):
            freqdyna.load(folder)


def test_parameters_fit_the_layers(folder):
    arrays = {"parameters": np.zeros((2, 31), np.float32), "layer_sizes": np.array([2, 4, 4])}
    for changes in ({}, {"parameters": np.zeros((3, 32))}, {"parameters": np.zeros((2, 32), int)}):
        wrong = arrays | changes
        save_arrays(folder / "parameters.npz", wrong, note_of(CONFIG, wrong))
        with pytest.raises(FreqdynaError, match=r"parameters\.npz is damaged .parameters have"):
            freqdyna.load(folder)


def test_seeds_may_be_missing_or_have_gaps(tmp_path):
    """Blocks of a sweep that are not finished, merged and saved as a run."""
    some = a_result(snapshots={}, seeds=np.array([3, 9]))
    assert is_same(freqdyna.load(some.save(tmp_path / "gap")), some)
    three = replace(CONFIG, seeds=3)
    fewer = a_result(snapshots={}, seeds=np.array([4, 5]))
    assert freqdyna.load(replace(fewer, config=three).save(tmp_path / "fewer")).seeds.tolist() == [
        4,
        5,
    ]


def test_a_changed_configuration_is_refused(folder):
    path = folder / "config.toml"
    text = path.read_text()
    path.write_text(text.replace("discount = 0.99", "discount = 0.5"))
    with pytest.raises(FreqdynaError, match=r"config\.toml was changed since the run was started"):
        freqdyna.load(folder)
    lines = text.splitlines(keepends=True)
    path.write_text("".join(lines[1:]))  # as version 0.1 wrote it
    assert is_same(freqdyna.load(folder), a_result())
    path.write_text("".join(lines[1:]).replace("discount = 0.99", "discount = 0.5"))
    with pytest.raises(FreqdynaError, match="belongs to another run"):
        freqdyna.load(folder)
    path.write_text("".join(lines[: len(lines) // 2]))
    with pytest.raises(FreqdynaError, match=r"config\.toml was changed since the run was started"):
        freqdyna.load(folder)
    path.write_text("".join(lines[1 : len(lines) // 2]))
    with pytest.raises(FreqdynaError, match="is not complete: settings are missing"):
        freqdyna.load(folder)


def test_a_run_of_the_same_version_before_it_had_a_setting_can_be_loaded(folder):
    path = folder / "config.toml"
    lines = path.read_text().splitlines(keepends=True)[1:]
    older = "".join(line for line in lines if not line.startswith("climb_iterations"))
    assert older != "".join(lines)
    path.write_text(toml_with_checksum(older))
    assert is_same(freqdyna.load(folder), a_result())
    path.write_text(toml_with_checksum(older.replace("discount = 0.99\n", "")))
    with pytest.raises(FreqdynaError, match="is not complete: settings are missing"):
        freqdyna.load(folder)


def test_a_copy_of_a_configuration_may_be_changed(folder, tmp_path):
    text = (folder / "config.toml").read_text()
    (tmp_path / "copy.toml").write_text(text.replace("discount = 0.99", "discount = 0.5"))
    assert Config.load(tmp_path / "copy.toml").discount == 0.5


def test_a_damaged_provenance_is_refused_and_a_missing_one_is_not(folder):
    path = folder / "provenance.json"
    path.write_text(path.read_text().replace("abc", "abd"))
    with pytest.raises(FreqdynaError, match=r"provenance\.json is damaged .* or remove it"):
        freqdyna.load(folder)
    path.unlink()
    assert freqdyna.load(folder).provenance == {}


def test_pipes_in_place_of_files_are_not_opened(folder):
    for name, message in (
        ("parameters.npz", r"parameters\.npz is damaged .it is not a regular file"),
        ("provenance.json", r"provenance\.json is damaged .it is not a regular file"),
        ("metrics.parquet", "has no metrics.parquet yet"),
        ("config.toml", "is not a run folder"),
    ):
        (folder / name).rename(folder / "kept")
        os.mkfifo(folder / name)
        with pytest.raises(FreqdynaError, match=message):
            freqdyna.load(folder)
        (folder / "kept").replace(folder / name)


def test_one_process_at_a_time_works_on_a_run_folder(folder):
    before = sorted(path.name for path in folder.iterdir())
    with run_folder.opened_folder(folder) as messages:
        assert messages == []
        with pytest.raises(FreqdynaError, match=f"folder is .* process {os.getpid()} on .* wait"):
            freqdyna.resume(folder, progress=False)
        assert is_same(freqdyna.load(folder), a_result())  # reading needs no lock
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_new_folder_is_created_by_one_of_two(tmp_path):
    with (
        run_folder.new_folder(tmp_path / "run", CONFIG) as path,
        pytest.raises(FreqdynaError, match=r"out is .*, which exists; choose a new folder"),
    ):
        a_result().save(path)
    with (
        locked_folder(tmp_path / "starting"),  # the other has not written its configuration yet
        pytest.raises(FreqdynaError, match=f"out is .*process {os.getpid()} on .* is working on"),
    ):
        a_result().save(tmp_path / "starting")


def test_what_a_killed_process_left_is_taken_over(folder):
    (folder / "lock.json").write_text(json.dumps({"host": "there", "pid": 123}))
    left = folder / ".checkpoint-0000000050.npz.123-abcd.partial"
    left.touch()
    assert is_same(freqdyna.load(folder), a_result())  # readers ignore both
    with run_folder.opened_folder(folder) as messages:
        assert messages == [
            "the process 123 on there that worked on this run ended without finishing; "
            "continuing from its last checkpoint"
        ]
        assert not left.exists()
    with run_folder.opened_folder(folder) as messages:
        assert messages == []


@pytest.mark.parametrize("text", ["", "[]", '{"pid": "\\u001b[2J", "host": 3}', "[" * 100_000])
def test_an_owner_that_cannot_be_named_counts_for_nothing(folder, text):
    (folder / "lock.json").write_text(text)
    with run_folder.opened_folder(folder) as messages:
        assert messages == []


def test_a_folder_in_which_a_run_was_killed_at_its_start_can_be_used_again(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    for name in (".lock", "lock.json", ".config.toml.123-abcd.partial"):
        (path / name).touch()
    assert is_same(freqdyna.load(a_result().save(path)), a_result())
    assert not list(path.glob(".*.partial"))


def test_a_file_without_checksum_is_refused_where_the_others_have_one(folder):
    """A valid file of another origin is not taken for one of version 0.1."""
    table = pyarrow.parquet.read_table(folder / "metrics.parquet")
    kept = (folder / "metrics.parquet").read_bytes()
    less = table.drop_columns([table.column_names[-1]]).replace_schema_metadata({})
    pyarrow.parquet.write_table(less, folder / "metrics.parquet")
    with pytest.raises(FreqdynaError, match=r"metrics\.parquet is damaged .its checksum is m"):
        freqdyna.load(folder)
    (folder / "metrics.parquet").write_bytes(kept)
    arrays, _ = load_arrays(folder / "parameters.npz")
    np.savez(folder / "parameters.npz", **arrays)
    with pytest.raises(FreqdynaError, match=r"parameters\.npz is damaged .its checksum is m"):
        freqdyna.load(folder)
