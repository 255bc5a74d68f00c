"""Files of a sweep: in a folder, on an object store, locked, or damaged."""

import secrets

import pytest
from hand_made import Instant
from moto.server import ThreadedMotoServer
from small import SWEEP
from sweeping import HALF, Here

import freqdyna
from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.execute import execute_sweep, load
from freqdyna.sweeps.status import stored_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Engine, TaskOutcome


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
def test_a_sweep_on_an_object_store(bucket):
    execute_sweep(Sweep.parse(HALF), bucket, Here(), checkpoint_seconds=0.0)
    assert len(freqdyna.load_sweep(bucket.location)) == 2
    assert bucket.files("running") == bucket.files("failed") == []
    with bucket.lock(), pytest.raises(FreqdynaError), Storage(bucket.location).lock():
        pass


def test_an_address_is_locked_until_its_owner_ends_or_is_taken_over():
    address = f"memory://{secrets.token_hex(8)}"  # without folders, as an object store is
    first, second = Storage(address), Storage(address)
    with first.lock():
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


def test_damaged_files_are_refused(tmp_path):
    sweep, storage = Sweep.parse(SWEEP), Storage(str(tmp_path))
    unit = sweep.units()[0]
    execute_sweep(sweep, storage, Instant())
    for name, read in (
        ("sweep.toml", lambda: stored_sweep(storage)),
        (f"units/{unit.name}/metrics.parquet", lambda: load(storage, unit.name)),
    ):
        contents = storage.read(name)
        read()
        storage.write(name, contents[:-9] + b"?" + contents[-8:])
        with pytest.raises(FreqdynaError, match=name.split("/")[-1]):
            read()
        storage.write(name, contents)
        read()
    assert stored_sweep(storage).stored() == storage.read("sweep.toml")
