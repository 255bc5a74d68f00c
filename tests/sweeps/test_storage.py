"""Files of a sweep on an object store, and files that mean harm."""

import errno
import io
import itertools
import json
import os
import resource
import time
import warnings
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import QUICK, TEXT, Here, assert_complete
from flips import refused
from moto.server import ThreadedMotoServer

import freqdyna
from freqdyna.cli.main import main
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.result import Result
from freqdyna.sweeps import lock, unit_files
from freqdyna.sweeps.execute import execute_sweep, read_sweep
from freqdyna.sweeps.lock import locked
from freqdyna.sweeps.status import read_status, stored_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.sweeps.view import headline
from freqdyna.training.engines.base import Engine, TaskOutcome
from freqdyna.training.engines.local import Local

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
    monkeypatch.setattr(lock, "SETTLE", 0.1)
    storage = Storage("s3://sweeps/one")
    storage.fs.mkdir("sweeps")
    yield storage
    server.stop()


def test_a_sweep_on_an_object_store(bucket, reference):
    status = execute_sweep(QUICK, Sweep.parse(QUICK), bucket, Local(1), checkpoint_seconds=0.0)
    assert len(status.done) == 4
    assert_complete(bucket.location, reference)
    assert len(freqdyna.load_sweep(bucket.location)) == 2
    with locked(bucket), pytest.raises(FreqdynaError, match="is working on"):
        execute_sweep(QUICK, Sweep.parse(QUICK), bucket, Local(1))


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
            if len(stored) >= 3:  # a unit and a half
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
    storage, name = Storage(str(tmp_path)), "units/0123456789abcdef.parquet"
    storage.write(name, b"as before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            storage.write(name, bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert storage.read(name) == b"as before"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name.split("/")[1]]


def test_failures_count_even_where_no_note_fits(tmp_path, monkeypatch):
    def full(self, name, contents):
        raise OSError("no space left")

    monkeypatch.setattr(Storage, "write_json", full)
    status = execute_sweep(TEXT, SWEEP, Storage(str(tmp_path)), Nowhere("OSError: no space left"))
    assert len(status.failed) == 4


@pytest.mark.parametrize(
    "name",
    [
        "../outside.json",
        "units/../../etc/passwd",
        "/etc/passwd",
        "units/0123456789abcdef.parquet/../../x",
        "units/0123456789ABCDEF.parquet",
        "units/0123456789abcdef.parquet\n",
        "elsewhere/0123456789abcdef.json",
    ],
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    storage = Storage(str(tmp_path / "in"))
    for use in (storage.read, storage.remove, lambda n: storage.write(n, b"")):
        with pytest.raises(FreqdynaError, match="is not a file of a sweep"):
            use(name)
    assert list(tmp_path.rglob("*")) == []


def test_writing_follows_no_link_out_of_the_folder(tmp_path, capsys):
    storage, victim = Storage(str(tmp_path / "out")), tmp_path / "victim"
    victim.write_text("precious")
    storage.write("sweep.toml", b"")
    for name in ("sweep.toml", ".sweep.toml.partial", "lock.json", ".lock"):
        (tmp_path / "out" / name).unlink(missing_ok=True)
        (tmp_path / "out" / name).symlink_to(victim)
    storage.write("sweep.toml", TEXT.encode())
    with pytest.raises(FreqdynaError, match="which cannot be written"), locked(storage):
        pass
    (tmp_path / "out" / ".lock").unlink()
    with locked(storage):
        pass
    assert victim.read_text() == "precious"
    (tmp_path / "out" / "units").symlink_to(tmp_path / "elsewhere")
    for use in (
        lambda: Storage(str(tmp_path / "out")),
        lambda: freqdyna.load_sweep(storage.location),
    ):
        with pytest.raises(
            FreqdynaError, match=r"where units is a link to .*elsewhere'; it must be"
        ):
            use()
    with pytest.raises(SystemExit):
        main(["status", str(victim)])
    assert "a file; it must be a folder" in capsys.readouterr().err
    with pytest.raises(FreqdynaError, match="is not a sweep"):
        stored_sweep(Storage(f"{victim}/below"))


def test_what_killed_writers_left_is_removed(tmp_path):
    storage = Storage(str(tmp_path))
    storage.write("running/0123456789abcdef.json", b"{}")
    old, new = tmp_path / "running" / ".a.1-2.partial", tmp_path / "running" / ".b.1-2.partial"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    storage.remove_partial_files()
    assert {path.name for path in (tmp_path / "running").iterdir()} == {
        "0123456789abcdef.json",
        new.name,
    }


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
    file.write_text(text)
    with pytest.raises(
        FreqdynaError,
        match="would import the module 'evil'; if you trust it, allow that with --allow-code",
    ):
        read_sweep(file, allow_code=False)
    # Whoever reads results, or their state, imports nothing.
    assert freqdyna.load_sweep(str(tmp_path)) == {}
    main(["status", str(tmp_path)])


def a_result(unit, columns=None, **changed):
    """The file of a unit of one seed, as it should be but for what is `changed`."""
    facts = {"settings": asdict(unit.config), "provenance": {}} | changed
    steps = [3_000, 6_000, 9_000, 12_000]
    columns = {"seed": [0] * 4, "step": steps, "return": [0.0] * 4} | (columns or {})
    table = pa.table({name: values for name, values in columns.items() if values})
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({b"freqdyna": json.dumps(facts).encode()}), file)
    return file.getvalue()


def test_damaged_and_forged_results_are_refused(tmp_path):
    storage, unit = Storage(str(tmp_path)), SWEEP.units()[0]
    path = f"units/{unit.name}.parquet"
    storage.write(path, a_result(unit))
    assert unit_files.load(storage, unit).returns.shape == (1, 4)
    turned = {"step": [12_000, 9_000, 6_000, 3_000], "return": [4.0, 3.0, 2.0, 1.0]}
    storage.write(path, a_result(unit, turned))  # rows are matched by seed and step
    assert unit_files.load(storage, unit).returns.tolist() == [[1.0, 2.0, 3.0, 4.0]]
    other = replace(unit.config, learning_rate=0.5)
    longer = {"seed": [0] * 5, "step": [1] * 5, "return": [0.0] * 5}
    for contents, message in (
        (b"", "is damaged"),
        (b"PAR1 and no more", "is damaged"),
        (a_result(unit)[:-20], "is damaged"),
        (a_result(unit, settings="none"), "is damaged"),
        (a_result(unit, settings={"unknown": 1}), "is damaged .unknown setting"),
        (a_result(unit, settings=asdict(other)), "contains another unit"),
        (a_result(unit, longer), "is damaged .it has 5 rows, not 4"),
        (a_result(unit, {"seed": [1] * 4}), "is damaged .its column seed does not match"),
        (
            a_result(unit, {"step": [3_000, 6_000, 12_000, 12_000]}),
            "its column step does not match",
        ),
        (a_result(unit, {"step": [3, 6, 9, 12]}), "its column step does not match its settings"),
        (a_result(unit, {"step": None}), "is damaged .*step"),
        (a_result(unit, {"return": None}), "is damaged .it has no column return"),
        (a_result(unit, {"return": ["evil"] * 4}), "its column 'return' is not numeric"),
    ):
        storage.write(path, contents)
        with pytest.raises(FreqdynaError, match=message):
            unit_files.load(storage, unit)


def a_stored_unit(storage):
    """A unit with random returns, and its record."""
    unit, rng = SWEEP.units()[0], np.random.default_rng(0)
    steps, parameters = np.arange(3_000, 12_001, 3_000), rng.normal(size=(1, 6)).astype(np.float32)
    returns = {"return": rng.normal(size=(1, 4)).astype(np.float32)}
    result = Result(unit.config, {}, np.array([0]), steps, returns, parameters, (2, 2))
    unit_files.store(storage, unit, result)
    return unit, result


@pytest.mark.parametrize("ending", ["parquet", "npz"])
def test_no_flipped_bit_in_a_unit_is_loaded_as_other_data(tmp_path, ending):
    storage = Storage(str(tmp_path))
    unit, result = a_stored_unit(storage)
    path = f"units/{unit.name}.{ending}"

    def read(damaged):
        (tmp_path / path).write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*npz is damaged")
            try:
                return unit_files.load(storage, unit)
            except UserWarning as warning:
                raise FreqdynaError(str(warning)) from None

    def is_same(found):
        return (
            found.config == result.config
            and np.array_equal(found.returns, result.returns)
            and np.array_equal(found.parameters, result.parameters)
            and found.layer_sizes == result.layer_sizes
        )

    contents = storage.read(path)
    assert is_same(read(contents))
    assert refused(contents, 150, read, is_same) > 40


def test_pipes_in_place_of_files_are_not_opened(tmp_path):
    storage = Storage(str(tmp_path))
    unit, _ = a_stored_unit(storage)
    for name in (f"units/{unit.name}.npz", f"units/{unit.name}.parquet", "sweep.toml"):
        (tmp_path / name).unlink(missing_ok=True)
        os.mkfifo(tmp_path / name)
        with pytest.raises(FreqdynaError, match=r"is damaged .it is not a regular file"):
            unit_files.load(storage, unit) if "units" in name else stored_sweep(storage)


def test_a_sweep_is_loaded_without_parameters_that_are_missing(tmp_path):
    storage, units = Storage(str(tmp_path)), SWEEP.units()
    storage.write("sweep.toml", SWEEP.stored(TEXT).encode())
    returns = {"return": np.zeros((1, 4))}
    for unit in units[:2]:
        seeds, steps = np.array([unit.config.first_seed]), np.arange(3_000, 12_001, 3_000)
        parameters = np.ones((1, 6), np.float32)
        result = Result(unit.config, {}, seeds, steps, returns, parameters, (2, 2))
        unit_files.store(storage, unit, result)
    [whole] = freqdyna.load_sweep(str(tmp_path)).values()
    assert (whole.parameters.shape, whole.layer_sizes) == ((2, 6), (2, 2))
    for damage in (b"no archive", None):
        storage.remove(f"units/{units[0].name}.npz")
        if damage:
            storage.write(f"units/{units[0].name}.npz", damage)
        with pytest.warns(match="npz is damaged") if damage else nullcontext():
            [result] = freqdyna.load_sweep(str(tmp_path)).values()
        assert result.seeds.tolist() == [0, 1]
        assert (result.parameters.shape, result.layer_sizes) == ((2, 0), ())


def test_a_pickle_in_place_of_parameters_is_not_opened(tmp_path):
    class Evil:
        def __reduce__(self):
            return (exec, ("raise SystemExit('executed')",))

    storage, unit = Storage(str(tmp_path)), SWEEP.units()[0]
    storage.write(f"units/{unit.name}.parquet", a_result(unit))
    file = io.BytesIO()
    np.savez(file, parameters=np.array([Evil()], dtype=object), layer_sizes=np.array([2, 2]))
    storage.write(f"units/{unit.name}.npz", file.getvalue())
    with pytest.warns(match="npz is damaged .* its parameters are left out"):
        assert unit_files.load(storage, unit).parameters.shape == (1, 0)


A_NOTE = '{"step": 1, "steps": 2, "seconds_left": %s, "time": %s, "mean_return": %s}'


@pytest.mark.parametrize(
    "note",
    [
        *("[]", "{", '{"step": "one"}', "\xff", "null", "[" * 100_000, '{"a":' * 100_000),
        *(
            A_NOTE % (left, "NOW", 1)
            for left in ("NaN", "Infinity", "1e308", -1, "true", "9" * 4000)
        ),
        *(A_NOTE % (1, when, 1) for when in (0, "NaN", "LATER")),
        A_NOTE.replace("1,", "3,") % (1, "NOW", 1),
    ],
    ids=itertools.count(),
)
def test_notes_that_are_not_whole_count_for_nothing(tmp_path, note):
    now = time.time()
    note = note.replace("NOW", str(now)).replace("LATER", str(now + 1e6))
    storage, units = Storage(str(tmp_path)), SWEEP.units()
    storage.write(f"running/{units[0].name}.json", note.encode("latin-1"))
    storage.write(f"failed/{units[3].name}.json", note.encode("latin-1"))
    status = read_status(storage, units)
    assert (status.running, len(status.failed), status.waiting) == ({}, 1, 3)
    headline(status, 2)


def test_nothing_in_notes_reaches_the_terminal_but_text(tmp_path, capsys):
    storage, units = Storage(str(tmp_path)), SWEEP.units()
    storage.write("sweep.toml", TEXT.replace('"er"', '"er\\u001b[31m"').encode())
    units = stored_sweep(storage).units()
    note = {"step": 1, "steps": 2**31, "seconds_left": 1e9, "time": time.time()}
    note |= {"mean_return": 1e308, "evaluated": 1, "host": "\x1b]0;evil\x07" * 1000}
    storage.write_json(f"running/{units[0].name}.json", note)
    storage.write_json(f"failed/{units[1].name}.json", {"error": "one\x1b[2Jtwo\r\n\u202e\ud800"})
    main(["status", str(tmp_path)])
    told = capsys.readouterr().out
    assert "one [2Jtwo" in " ".join(told.split())  # a narrow terminal breaks the line
    assert all(c.isprintable() or c == "\n" for c in told)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("= 1", "the sweep file is not a TOML file"),
        ("x = " + "[" * 20_000, "the sweep file is nested too deeply"),
        ("[settings]\nhidden = " + "[" * 200 + "]" * 200, "hidden"),
        ("[settings]\nsteps = " + "9" * 5_000, "a number with thousands of digits"),
        ("[settings]\nsteps = 0x" + "f" * 5_000, "a number with thousands of digits"),
        ("[settings]\ndiscount = " + "9" * 400, "discount is 9+[.]+; it must be between 0 and 1"),
        ('[vary]\n"\\u001b[31mred" = 5', r"^ \[31mred in \[vary\] is 5"),
        ('[search.space]\n"\\u001b[31mred" = 5', r"^ \[31mred in \[search.space\] is 5"),
        (
            "[search]\ntrials = 10_000\nspace = {batch_size = {low = 1, high = 2}}\n"
            "[seeds]\nnumber = 100\nblock = 1",
            "1,000,000 units; it must have at most 100,000",
        ),
        (
            "[search]\ntogether = 100_000\nspace = {batch_size = {low = 1, high = 2}}",
            r"together in \[search\] is 100000; it must be an integer, 1 to 1,000",
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
        ("[seeds]\nnumber = 2000000\nblock = 1", "2,000,000 units; it must have at most 100,000"),
        ('[settings]\nalgorithm = "ex"', "unknown algorithm 'ex'"),
        ('[settings]\nenv = "MountainCart"', "unknown environment 'MountainCart'"),
        ('[settings]\nsearch_control = "up"', "unknown search-control 'up'"),
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
    stored = Sweep.parse(TEXT).stored(TEXT).encode()
    expected = Sweep.parse(TEXT).units()
    for place in range(0, 8 * len(stored), 7):
        flipped = bytearray(stored)
        flipped[place // 8] ^= 1 << place % 8
        storage.write("sweep.toml", bytes(flipped))
        with suppress(FreqdynaError):
            assert stored_sweep(storage).units() == expected  # in the comment, perhaps
    storage.write("sweep.toml", Sweep.parse(TEXT).stored(stored.decode()).encode())
    assert stored_sweep(storage).units() == expected
    assert storage.read("sweep.toml") == stored
