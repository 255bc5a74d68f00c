"""One process at a time computes a sweep."""

import os
import secrets
import subprocess
import sys

import pytest
from conftest import TEXT

from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Local

HOLD = """
import sys, time
from freqdyna.sweeps.storage import Storage
with Storage(sys.argv[1]).lock():
    print("locked", flush=True)
    time.sleep(3600)
"""


@pytest.fixture
def address():
    """A location without folders, as an object store is."""
    return f"memory://{secrets.token_hex(8)}"


def test_the_lock_of_a_folder_ends_with_its_process(tmp_path):
    storage = Storage(str(tmp_path))
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        owner.stdout.readline()
        with pytest.raises(FreqdynaError, match=f"process {owner.pid} on "):
            execute_sweep(TEXT, Sweep.parse(TEXT), storage, Local(1))
        owner.kill()
        owner.wait()
        with storage.lock(), storage.lock():
            pass
    assert storage.read("sweep.toml") is None


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    storage = Storage(str(tmp_path / "file" / "below"))
    with pytest.raises(FreqdynaError, match="below', which cannot be written"), storage.lock():
        pass


def test_an_address_is_locked_until_its_owner_ends_or_is_taken_over(address):
    first, second = Storage(address), Storage(address)
    with first.lock(), first.lock():
        with pytest.raises(FreqdynaError, match=f"process {os.getpid()} on .* --take-over"):
            execute_sweep(TEXT, Sweep.parse(TEXT), second, Local(1))
        with second.lock(take_over=True):
            pass
    with second.lock():
        second.write_json("lock.json", {"host": "elsewhere", "pid": 1, "time": "now"})
    assert first.read_json("lock.json")["pid"] == 1  # a lock that was taken over is not removed
