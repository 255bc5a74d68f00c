"""The lock of a sweep: a file that says who works on it, with a sign of life every few seconds.

An owner on this machine is alive as long as its process is there, even if it can write no sign of
life, as on a full disk; one on another machine as long as it gives signs.
"""

import fcntl
import json
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freqdyna.core.errors import FreqdynaError
from freqdyna.sweeps.notes import printable

if TYPE_CHECKING:
    from freqdyna.sweeps.storage import Storage

LOCK = "lock.json"
BEAT = 5.0
"""Seconds between two signs of life of the lock's owner."""
DEAD = 30.0
"""Seconds without one after which an owner on another machine counts as gone."""
SETTLE = 2.0
"""Seconds after which a lock must still be one's own, where others who take over one that was left
behind cannot be kept out meanwhile."""


@contextmanager
def locked(storage: "Storage") -> Iterator[None]:
    """Be the only one who works on the sweep; another owner who is alive is named."""
    owner = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": started(os.getpid()),
        "key": secrets.token_hex(8),
    }
    _take(storage, owner)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            # A full disk or a network that is down, say: what must be written says so itself.
            with suppress(Exception):
                if not _renew(storage, owner):
                    print(
                        f"freqdyna: out is {storage.location!r}, which {_named(_found(storage))} "
                        "has taken over: this process gave no sign of life for too long",
                        file=sys.stderr,
                    )
                    return

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(Exception), _undisturbed(storage):
            if _found(storage).get("key") == owner["key"]:
                storage.remove(LOCK)


def started(pid: int) -> str | None:
    """When a process began, so that it is told from a later one with its number.

    None if there is no such process, or if the system does not tell.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if fields[0] in "ZX":  # killed, but not taken away by its parent yet
            return None
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + " " + fields[19]
    except (OSError, IndexError):
        return None


def is_alive(owner: dict[str, Any]) -> bool:
    """Whether a lock's owner still works."""
    try:
        pid, last = int(owner["pid"]), float(owner["time"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
    if owner.get("host") == socket.gethostname():
        with suppress(PermissionError):  # it is another user's
            try:
                os.kill(pid, 0)
            except (ProcessLookupError, OverflowError):
                return False
        began = started(pid)
        if began is not None and isinstance(owner.get("started"), str):
            return bool(owner["started"] == began)
    return abs(time.time() - last) < DEAD  # a time to come is none, but for clocks that differ


def _take(storage: "Storage", owner: dict[str, Any]) -> None:
    """Make the lock file; that of an owner who is gone is taken over."""
    with _undisturbed(storage) as alone:
        try:
            taken = _create(storage, owner) or _take_over(storage, owner)
            if taken and not alone:
                time.sleep(SETTLE)
                taken = _found(storage).get("key") == owner["key"]
        except OSError as error:
            raise FreqdynaError(
                f"out is {storage.location!r}, which cannot be written: {error}"
            ) from None
    if not taken:
        raise FreqdynaError(f"out is {storage.location!r}, which another process has just taken")


def _take_over(storage: "Storage", owner: dict[str, Any]) -> bool:
    """Replace the lock of an owner who is gone; False if another was quicker."""
    other = _found(storage)
    if is_alive(other):
        raise FreqdynaError(
            f"out is {storage.location!r}, which {_named(other)} is working on; wait for it, "
            "or stop it"
        )
    if not other and _is_young(storage):
        return False
    storage.remove(LOCK)
    return _create(storage, owner)


def _renew(storage: "Storage", owner: dict[str, Any]) -> bool:
    """Give a sign of life; False if the lock is another's now, which is left as it is."""
    with _undisturbed(storage):
        if storage.read(LOCK) is None:
            return _create(storage, owner)
        if _found(storage).get("key") != owner["key"]:
            return False
        storage.write(LOCK, _contents(owner))
        return True


def _create(storage: "Storage", owner: dict[str, Any]) -> bool:
    """Make the lock file; False if there is one."""
    try:
        storage.create(LOCK, _contents(owner))
    except FileExistsError:
        return False
    return True


def _contents(owner: dict[str, Any]) -> bytes:
    return json.dumps(owner | {"time": time.time()}).encode()


def _found(storage: "Storage") -> dict[str, Any]:
    return storage.read_json(LOCK) or {}


def _named(owner: dict[str, Any]) -> str:
    return printable(f"process {owner.get('pid')} on {owner.get('host')}", 100)


def _is_young(storage: "Storage") -> bool:
    """Whether the file has just been made: a lock that says nothing may be half written."""
    with suppress(OSError):
        written = os.lstat(f"{storage.root}/{LOCK}").st_mtime if storage.is_local else 0.0
        return abs(time.time() - written) < BEAT
    return False


@contextmanager
def _undisturbed(storage: "Storage") -> Iterator[bool]:
    """Keep others of this kind out meanwhile; says whether that can be.

    It can in a folder of a file system that locks folders: any on a disk of this machine, not every
    shared one, and no object store.
    """
    folder = _hold(storage.root) if storage.is_local else None
    try:
        yield folder is not None
    finally:
        if folder is not None:
            os.close(folder)  # gives up its lock


def _hold(path: str) -> int | None:
    """A folder opened and locked; None if that fails, or if someone holds it for long."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None  # whoever writes there next says why
    until = time.monotonic() + SETTLE
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return folder
        except OSError as error:
            if not isinstance(error, BlockingIOError) or time.monotonic() > until:
                os.close(folder)
                return None
        time.sleep(0.01)
