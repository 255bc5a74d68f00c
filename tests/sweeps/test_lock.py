"""One process at a time works on a sweep, and what may befall its lock."""

import json
import os
import secrets
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from conftest import TEXT, wait_for

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.lock import LOCK
from freqdyna.sweeps import lock
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.lock import locked
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines.local import Local

STALE = {"host": "gone", "pid": 1, "time": 0.0}
HOLD = """
import sys, time
from freqdyna.sweeps.lock import locked
from freqdyna.sweeps.storage import Storage
with locked(Storage(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(3600)
"""


@pytest.fixture
def location(monkeypatch):
    """A location without folders, as an object store is."""
    monkeypatch.setattr(lock, "SETTLE", 0.1)
    return Storage(f"memory://{secrets.token_hex(8)}")


def test_a_second_sweep_on_the_same_folder_is_refused(tmp_path):
    storage = Storage(str(tmp_path))
    with (
        locked(storage),
        pytest.raises(FreqdynaError, match=f"process {os.getpid()} on .* is working on; wait"),
    ):
        execute_sweep(TEXT, Sweep.parse(TEXT), storage, Local(1))
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_the_lock_of_a_folder_ends_with_its_process(tmp_path):
    storage = Storage(str(tmp_path))
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        owner.stdout.readline()
        with pytest.raises(FreqdynaError, match=f"process {owner.pid} on "), locked(storage):
            pass
        owner.kill()
        owner.wait()
        assert storage.read_json("lock.json")["pid"] == owner.pid  # who could not clean up
        with locked(storage):
            assert storage.read_json("lock.json")["pid"] == os.getpid()
    assert storage.read("lock.json") is None


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    storage = Storage(str(tmp_path / "file" / "below"))
    with pytest.raises(FreqdynaError, match="below', which cannot be written"), locked(storage):
        pass


def test_a_second_sweep_on_the_same_location_is_refused(location):
    with locked(location), pytest.raises(FreqdynaError, match=f"process {os.getpid()} on "):
        execute_sweep(TEXT, Sweep.parse(TEXT), location, Local(1))
    assert location.read("lock.json") is None
    location.write_json("lock.json", STALE | {"time": time.time()})
    refused = pytest.raises(FreqdynaError, match=r"process 1 on gone is working on; .* 30 seconds")
    with refused, locked(location):
        pass


@pytest.mark.parametrize("signed", [0.0, 1e12, float("nan"), "never", None])
def test_a_lock_that_is_not_renewed_is_taken_over(location, signed):
    location.write("lock.json", json.dumps(STALE | {"time": signed}).encode())
    with locked(location):
        assert location.read_json("lock.json")["pid"] == os.getpid()
    assert location.read("lock.json") is None


def test_the_owner_gives_signs_of_life_through_an_outage(location, monkeypatch):
    monkeypatch.setattr(lock, "RENEWAL", 0.05)
    write, failures = location.write, []

    def fail_at_first(name, contents):
        if len(failures) < 2:
            failures.append(name)
            raise RuntimeError("no network")
        write(name, contents)

    monkeypatch.setattr(location, "write", fail_at_first)
    with locked(location):
        taken = location.read_json("lock.json")["time"]
        wait_for(lambda: location.read_json("lock.json")["time"] > taken + 0.1)
        location.remove("lock.json")
        wait_for(lambda: location.read_json("lock.json"))
    assert len(failures) == 2
    assert location.read("lock.json") is None


def test_a_lock_that_was_taken_over_is_left_to_its_new_owner(location, monkeypatch, capsys):
    monkeypatch.setattr(lock, "RENEWAL", 0.05)
    told = []
    with locked(location):
        location.write_json("lock.json", STALE)
        wait_for(lambda: told.append(capsys.readouterr().err) or told[-1])
    assert "which process 1 on gone has taken over" in told[-1]
    assert location.read_json("lock.json") == STALE


@pytest.mark.parametrize("folder", [True, False])
def test_of_many_who_find_a_lock_left_behind_one_takes_it(tmp_path, location, folder, monkeypatch):
    storage, took, waited = Storage(str(tmp_path)) if folder else location, [], threading.local()
    together, tried = threading.Barrier(8), threading.Barrier(8)
    storage.write_json("lock.json", STALE)

    def settle(seconds):
        """Long enough, whatever the machine does meanwhile: until everyone has tried."""
        waited.done = True
        tried.wait()

    if not folder:
        monkeypatch.setattr(lock, "time", SimpleNamespace(time=time.time, sleep=settle))

    def start():
        together.wait()
        try:
            with locked(storage):
                took.append(True)
                together.wait()
        except FreqdynaError:
            if not folder and not hasattr(waited, "done"):
                tried.wait()
            together.wait()

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert took == [True]
