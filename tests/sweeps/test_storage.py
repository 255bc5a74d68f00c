"""Files of a sweep on an object store, and files that mean harm."""

import errno
import itertools
import resource
from contextlib import suppress

import numpy as np
import pytest
from conftest import QUICK, TEXT, Here, assert_complete
from flips import refused
from moto.server import ThreadedMotoServer

import freqdyna
from freqdyna.cli.main import main
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import encode_toml
from freqdyna.results.result import Result
from freqdyna.sweeps.execute import execute_sweep, load, read_sweep, store
from freqdyna.sweeps.status import stored_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Engine, Local, TaskOutcome

SWEEP = Sweep.parse(TEXT)


@pytest.fixture
def bucket(monkeypatch):
    """A bucket of a server on this machine that speaks S3."""
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    storage = Storage("s3://sweeps/one")
    storage.fs.mkdir("sweeps")
    yield storage
    server.stop()


def test_a_sweep_on_an_object_store(bucket, reference):
    status = execute_sweep(QUICK, Sweep.parse(QUICK), bucket, Local(1), checkpoint_seconds=0.0)
    assert len(status.done) == 4
    assert_complete(bucket.location, reference)
    assert len(freqdyna.load_sweep(bucket.location)) == 2
    other = Storage(bucket.location)
    with bucket.lock(), pytest.raises(FreqdynaError, match="working on"), other.lock():
        pass
    with bucket.lock(), other.lock(take_over=True):
        pass


class Nowhere(Engine):
    """An engine whose nodes write to disks of their own, or fail."""

    def __init__(self, error=None):
        self.error, self.tasks = error, []

    def slots(self):
        return 1

    def run(self, tasks):
        self.tasks = tasks
        yield from (TaskOutcome(task.name, self.error) for task in tasks)


def test_units_that_do_not_arrive_are_missed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = Nowhere()
    with pytest.raises(
        FreqdynaError, match=r"4 of 4 computed units are missing; .* accessible to all nodes"
    ):
        execute_sweep(TEXT, SWEEP, Storage("here"), engine)
    assert {task.compute.args[0] for task in engine.tasks} == {str(tmp_path / "here")}
    assert Storage("memory://here").location == "memory://here"


def test_what_does_not_fit_on_the_disk_is_computed_once_it_does(tmp_path, monkeypatch):
    text = QUICK.replace("number = 2", "number = 1")
    storage, write, stored = Storage(str(tmp_path)), Storage.write, []

    def full(storage, name, contents):
        if name.startswith("units/"):
            if len(stored) >= 6:  # a unit and a half
                raise OSError(errno.ENOSPC, "No space left on device")
            stored.append(name)
        write(storage, name, contents)

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "write", full)
        status = execute_sweep(text, Sweep.parse(text), storage, Here())
    assert len(status.done) == 1
    [error] = status.failed.values()
    assert "No space left" in error
    assert len(execute_sweep(text, Sweep.parse(text), storage, Here()).done) == 2
    results = freqdyna.load_sweep(str(tmp_path)).values()
    assert [result.returns.shape for result in results] == [(1, 4), (1, 2)]


def test_a_file_that_the_system_cannot_write_whole_is_not_there(tmp_path):
    """A limit on the size of files stands for a full disk, which nobody but root can mount."""
    storage, name = Storage(str(tmp_path)), "units/0123456789abcdef/metrics.parquet"
    storage.write(name, b"as before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            storage.write(name, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert storage.read(name) == b"as before"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name.split("/")[2]]


def test_failures_count_even_where_no_note_fits(tmp_path, monkeypatch):
    def full(self, name, contents):
        raise OSError("no space left")

    monkeypatch.setattr(Storage, "write_json", full)
    status = execute_sweep(TEXT, SWEEP, Storage(str(tmp_path)), Nowhere("OSError: no space left"))
    assert len(status.failed) == 4


def test_what_killed_writers_left_is_removed(tmp_path):
    storage = Storage(str(tmp_path))
    storage.write("running/0123456789abcdef/config.toml", b"")
    (tmp_path / "running" / "0123456789abcdef" / ".a.1-2.partial").touch()
    storage.remove_partial_files()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["config.toml"]


@pytest.mark.parametrize(
    "text",
    [
        '[settings]\nenv = "evil:Env-v0"',
        '[settings]\nalgorithm = "dyna"\nsearch_control = "evil:Search"',
        '[vary]\nenv = ["GridWorld", "evil:Env-v0"]',
        '[search]\n[search.space]\nenv = {choices = ["GridWorld", "evil:Env-v0"]}',
        '[settings]\nalgorithm = "dyna"\n[search]\n[search.space]\n'
        'search_control = {choices = ["evil:Search"]}',
        '[settings]\nalgorithm = "dyna"\nenv = "GridWorld"\nsearch_control = "evil:Search"\n'
        "[search]\n[search.space]\nexploration = {low = 0.1, high = 0.2}",
    ],
)
def test_code_in_a_sweep_file_is_not_imported(tmp_path, monkeypatch, text):
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "sweep.toml"
    file.write_bytes(encode_toml(text, ""))
    with pytest.raises(
        FreqdynaError,
        match="would import the module 'evil'; if you trust it, allow that with --allow-code",
    ):
        read_sweep(file, allow_code=False)
    # Whoever reads results, or their state, imports nothing.
    assert freqdyna.load_sweep(str(tmp_path)) == {}
    main(["status", str(tmp_path)])


def a_stored_unit(storage):
    """A unit with random returns, and its record."""
    unit, rng = SWEEP.units()[0], np.random.default_rng(0)
    steps, parameters = np.arange(3_000, 12_001, 3_000), rng.normal(size=(1, 6)).astype(np.float32)
    returns = {"return": rng.normal(size=(1, 4)).astype(np.float32)}
    result = Result(unit.config, {}, np.array([0]), steps, returns, parameters, (2, 2))
    store(storage, unit, result)
    return unit, result


@pytest.mark.parametrize("file", ["metrics.parquet", "arrays.npz"])
def test_no_flipped_bit_in_a_unit_is_loaded_as_other_data(tmp_path, file):
    storage = Storage(str(tmp_path))
    unit, result = a_stored_unit(storage)
    path = f"units/{unit.name}/{file}"

    def read(damaged):
        (tmp_path / path).write_bytes(damaged)
        return load(storage, unit)

    def is_same(record):
        return (
            record.config == result.config
            and np.array_equal(record.returns, result.returns)
            and np.array_equal(record.parameters, result.parameters)
            and record.layer_sizes == result.layer_sizes
        )

    contents = storage.read(path)
    assert is_same(read(contents))
    assert refused(contents, 150, read, is_same) > 40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("= 1", "the sweep file is not a TOML file"),
        ("x = " + "[" * 20_000, "the sweep file is not a TOML file"),
        ("[settings]\nhidden = " + "[" * 200 + "]" * 200, "hidden"),
        ("[settings]\nsteps = " + "9" * 5_000, "the sweep file is not a TOML file"),
        ("[settings]\ndiscount = " + "9" * 400, "discount is 9+[.]+; it must be between 0 and 1"),
        ('[vary]\n"\\u001b[31mred" = 5', r"^ \[31mred in \[vary\] is 5"),
        ('[search.space]\n"\\u001b[31mred" = 5', r"^ \[31mred in \[search.space\] is 5"),
        (
            "[search]\ntrials = 10_000\nspace = {batch_size = {low = 1, high = 2}}\n"
            "[seeds]\nnumber = 100\nblock = 1",
            "number of units is 1000000; it must be at most 100,000",
        ),
        ("[grid]", "unknown table 'grid'"),
        ("seeds = 3", "seeds is 3; it must be a table"),
        ("[seeds]\nnumber = 0", r"number in \[seeds\] is 0; it must be an integer, 1"),
        ("[seeds]\nnumber = true", r"number in \[seeds\] is True"),
        ("[seeds]\nblocks = 2", r"unknown setting of \[seeds\] 'blocks'"),
        ("[settings]\nseeds = 2", r"seeds is not a setting of a sweep: see number in \[seeds\]"),
        ("[settings]\ndevices = 2", "devices is not a setting of a sweep; omit it"),
        ("[settings]\nsteps = 0", "steps is 0; it must be an integer, 1 or greater"),
        ("[vary]\nsteps = 5", r"steps in \[vary\] is 5; it must be a list"),
        ("[vary]\nsteps = [5, -5]", "steps is -5; it must be"),
        ("[settings]\nsteps = 5\n[vary]\nsteps = [5]", "must be in one"),
        (
            "[seeds]\nnumber = 2000000\nblock = 1",
            "number of units is 2000000; it must be at most 100,000",
        ),
        ('[settings]\nalgorithm = "ex"', "unknown algorithm 'ex'"),
        ('[settings]\nenv = "MountainCart"', "unknown environment 'MountainCart'"),
        ('[settings]\nsearch_control = "up"', "unknown search.control 'up'"),
        ('[search]\nspace = {algorithm = {choices = ["er", "ex"]}}', "unknown algorithm 'ex'"),
        ('[search]\nspace = {env = {choices = ["Maze"]}}', "unknown environment 'Maze'"),
    ],
    ids=itertools.count(),
)
def test_bad_sweep_files_are_refused_in_one_sentence(tmp_path, text, message):
    file = tmp_path / "sweep.toml"
    file.write_text(text)
    with pytest.raises(FreqdynaError, match=message):
        read_sweep(file, allow_code=False)


def test_a_bit_flipped_in_the_stored_sweep_file_is_told(tmp_path):
    storage = Storage(str(tmp_path))
    stored = Sweep.parse(TEXT).stored(TEXT)
    expected = Sweep.parse(TEXT).units()
    for place in range(0, 8 * len(stored), 7):
        flipped = bytearray(stored)
        flipped[place // 8] ^= 1 << place % 8
        storage.write("sweep.toml", bytes(flipped))
        with suppress(FreqdynaError):
            assert stored_sweep(storage).units() == expected  # in the comment, perhaps
    storage.write("sweep.toml", Sweep.parse(TEXT).stored(stored.decode()))
    assert stored_sweep(storage).units() == expected
    assert storage.read("sweep.toml") == stored
