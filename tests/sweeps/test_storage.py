"""Files of a sweep: in a folder, on an object store, locked, on a full disk, or damaged."""

import errno
import secrets
import subprocess
import sys

import pytest
from hand_made import Instant
from moto.server import ThreadedMotoServer
from small import SWEEP
from sweeping import HALF, Here, assert_complete

import freqdyna
from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.execute import execute_sweep, load
from freqdyna.sweeps.status import stored_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Engine, TaskOutcome

HOLD = """
import sys, time
from freqdyna.sweeps.storage import Storage
with Storage(sys.argv[1]).lock():
    print("locked", flush=True)
    time.sleep(3600)
"""


class Nowhere(Engine):
    """An engine whose nodes write to disks of their own."""

    def slots(self):
        return 1

    def run(self, tasks):
        self.tasks = tasks
        yield from (TaskOutcome(task.name) for task in tasks)


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


@pytest.mark.slow
def test_a_sweep_on_an_object_store(bucket, reference):
    status = execute_sweep(Sweep.parse(HALF), bucket, Here(), checkpoint_seconds=0.0)
    assert_complete(bucket.location, {name: reference[name] for name in status.done})
    assert len(freqdyna.load_sweep(bucket.location)) == 2
    with bucket.lock(), pytest.raises(FreqdynaError), Storage(bucket.location).lock():
        pass


@pytest.mark.slow
def test_the_lock_of_a_folder_ends_with_its_process(tmp_path):
    storage = Storage(str(tmp_path))
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        owner.stdout.readline()
        with pytest.raises(FreqdynaError, match=str(owner.pid)):
            execute_sweep(Sweep.parse(SWEEP), storage, Nowhere())
        owner.kill()
        owner.wait()
        with storage.lock(), storage.lock():
            pass
    assert storage.read("sweep.toml") is None


def test_an_address_is_locked_until_its_owner_ends_or_is_taken_over():
    address = f"memory://{secrets.token_hex(8)}"  # without folders, as an object store is
    first, second = Storage(address), Storage(address)
    with first.lock(), first.lock():
        with pytest.raises(FreqdynaError, match="--take-over"):
            execute_sweep(Sweep.parse(SWEEP), second, Nowhere())
        with second.lock(take_over=True):
            pass
    with second.lock():
        second.write("lock.txt", b"elsewhere")
    assert first.read("lock.txt") == b"elsewhere"  # a lock that was taken over is not removed


def test_units_that_do_not_arrive_are_missed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = Nowhere()
    with pytest.raises(FreqdynaError, match="4 of 4"):
        execute_sweep(Sweep.parse(SWEEP), Storage("here"), engine)
    assert {task.compute.args[0] for task in engine.tasks} == {str(tmp_path / "here")}
    assert Storage("memory://here").location == "memory://here"


@pytest.mark.slow
def test_what_does_not_fit_on_the_disk_is_computed_once_it_does(tmp_path, monkeypatch):
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
    assert len(execute_sweep(Sweep.parse(HALF), storage, Here()).done) == 2
    results = freqdyna.load_sweep(str(tmp_path)).values()
    assert [result.returns.shape for result in results] == [(1, 4), (1, 2)]


def test_damaged_files_are_refused(tmp_path):
    sweep, storage = Sweep.parse(SWEEP), Storage(str(tmp_path))
    unit = sweep.units()[0]
    left_by_a_killed_writer = tmp_path / "units" / unit.name / ".a.1-2.partial"
    left_by_a_killed_writer.parent.mkdir(parents=True)
    left_by_a_killed_writer.touch()
    execute_sweep(sweep, storage, Instant())
    assert not left_by_a_killed_writer.exists()
    for name, read in (
        ("sweep.toml", lambda: stored_sweep(storage)),
        (f"units/{unit.name}/metrics.parquet", lambda: load(storage, unit)),
    ):
        contents = storage.read(name)
        read()
        storage.write(name, contents[:-9] + b"?" + contents[-8:])
        with pytest.raises(FreqdynaError, match=name.split("/")[-1]):
            read()
        storage.write(name, contents)
        read()
    assert stored_sweep(storage).stored() == storage.read("sweep.toml")
