"""One process at a time works on a sweep, and what may befall its lock."""

import os
import signal
import socket
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest
from conftest import TEXT, wait_for
from disturbed import LAST_RESORT

from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps import lock
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.lock import locked
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines.local import Local

SWEEP = Sweep.parse(TEXT)
STALE = {"host": "gone", "pid": 1, "time": 0.0}


def test_a_second_sweep_on_the_same_folder_is_refused(tmp_path):
    storage = Storage(str(tmp_path))
    with (
        locked(storage),
        pytest.raises(FreqdynaError, match=f"process {os.getpid()} on .* working"),
    ):
        execute_sweep(TEXT, SWEEP, storage, Local(1))
    assert storage.read("lock.json") is None
    elsewhere, here, now = "elsewhere", socket.gethostname(), time.time()
    for host, pid, last in (
        (elsewhere, 1, 0.0),
        (here, 1, now - 60),  # such a process is there, but it is another
        (here, os.getpid(), now - 60),
        (elsewhere, 1, now + 1e6),
        (here, os.getpid(), float("nan")),
        (here, 2**70, now),
    ):
        storage.write_json("lock.json", {"host": host, "pid": pid, "time": last})
        with locked(storage):
            assert storage.read_json("lock.json")["pid"] == os.getpid()
        assert list(tmp_path.iterdir()) == []
    storage.write_json("lock.json", {"host": elsewhere, "pid": 1, "time": now})
    with pytest.raises(FreqdynaError, match="process 1 on elsewhere"), locked(storage):
        pass
    storage.write("lock.json", b"")  # its owner is about to fill it
    with pytest.raises(FreqdynaError, match="another process has just taken"), locked(storage):
        pass
    os.utime(tmp_path / "lock.json", (0, 0))
    with locked(storage):
        pass


def test_an_owner_on_this_machine_is_alive_as_long_as_its_process():
    here, now = socket.gethostname(), time.time()
    with subprocess.Popen(["sleep", "1200"]) as process:
        owner = {"host": here, "pid": process.pid, "started": lock.started(process.pid)}
        assert lock.is_alive(owner | {"time": now - 1e6})  # on a full disk it gives no sign of life
        process.send_signal(signal.SIGSTOP)
        assert lock.is_alive(owner | {"time": now - 1e6})
        assert not lock.is_alive(owner | {"time": now, "started": "before"})  # another's number
        assert not lock.is_alive(owner | {"time": now - 60, "host": "elsewhere"})
        process.kill()
        # Though nobody has waited for it yet.
        wait_for(lambda: lock.started(process.pid) is None)
        assert not lock.is_alive(owner | {"time": now - 60})
    assert not lock.is_alive(owner | {"time": now})


def test_the_owner_gives_signs_of_life_through_an_outage(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "BEAT", 0.05)
    storage = Storage(str(tmp_path))
    write, failures = storage.write, []

    def fail_at_first(name, contents):
        if len(failures) < 2:
            failures.append(name)
            raise RuntimeError("no network")
        write(name, contents)

    monkeypatch.setattr(storage, "write", fail_at_first)
    with locked(storage):
        taken = storage.read_json("lock.json")["time"]
        wait_for(lambda: storage.read_json("lock.json")["time"] > taken + 0.1)
        storage.remove("lock.json")
        wait_for(lambda: storage.read_json("lock.json"))
    assert len(failures) == 2
    assert storage.read("lock.json") is None


def test_a_lock_that_was_taken_over_is_left_to_its_new_owner(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lock, "BEAT", 0.05)
    storage, told = Storage(str(tmp_path)), []
    with locked(storage):
        storage.write_json("lock.json", STALE)
        wait_for(lambda: told.append(capsys.readouterr().err) or told[-1])
    assert "which process 1 on gone has taken over" in told[-1]
    assert storage.read_json("lock.json") == STALE


@pytest.mark.parametrize("folders_can_be_held", [True, False])
def test_of_many_who_find_a_lock_left_behind_one_takes_it(
    tmp_path, monkeypatch, folders_can_be_held
):
    storage, took, waited = Storage(str(tmp_path)), [], threading.local()
    together, tried = threading.Barrier(8), threading.Barrier(8)
    storage.write_json("lock.json", STALE)

    def settle(seconds):
        """Long enough, whatever the machine does meanwhile: until everyone has tried."""
        waited.done = True
        tried.wait()

    if folders_can_be_held:
        monkeypatch.setattr(lock, "SETTLE", LAST_RESORT)
    else:
        monkeypatch.setattr(lock, "_hold", lambda path: None)
        clock = SimpleNamespace(time=time.time, monotonic=time.monotonic, sleep=settle)
        monkeypatch.setattr(lock, "time", clock)

    def start():
        together.wait()
        try:
            with locked(storage):
                took.append(True)
                together.wait()
        except FreqdynaError:
            if not folders_can_be_held and not hasattr(waited, "done"):
                tried.wait()
            together.wait()

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert took == [True]
