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

from freqdyna.errors import FreqdynaError
from freqdyna.sweeps.notes import printable

if TYPE_CHECKING:
    from freqdyna.sweeps.place import Place

LOCK = "lock.json"
BEAT = 5.0
"""Seconds between two signs of life of the lock's owner."""
DEAD = 30.0
"""Seconds without one after which an owner on another machine counts as gone."""
SETTLE = 2.0
"""Seconds after which a lock must still be one's own, where others who take over one that was left
behind cannot be kept out meanwhile."""


@contextmanager
def locked(place: "Place") -> Iterator[None]:
    """Be the only one who works on the sweep; another owner who is alive is named."""
    owner = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": started(os.getpid()),
        "key": secrets.token_hex(8),
    }
    _take(place, owner)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            # A full disk or a network that is down, say: what must be written says so itself.
            with suppress(Exception):
                if not _renew(place, owner):
                    print(
                        f"freqdyna: out is {place.location!r}, which {_named(_found(place))} has "
                        "taken over: this process gave no sign of life for too long",
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
        with suppress(Exception), _undisturbed(place):
            if _found(place).get("key") == owner["key"]:
                place.remove(LOCK)


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


def _take(place: "Place", owner: dict[str, Any]) -> None:
    """Make the lock file; that of an owner who is gone is taken over."""
    with _undisturbed(place) as alone:
        try:
            taken = _create(place, owner) or _take_over(place, owner)
            if taken and not alone:
                time.sleep(SETTLE)
                taken = _found(place).get("key") == owner["key"]
        except OSError as error:
            raise FreqdynaError(
                f"out is {place.location!r}, which cannot be written: {error}"
            ) from None
    if not taken:
        raise FreqdynaError(f"out is {place.location!r}, which another process has just taken")


def _take_over(place: "Place", owner: dict[str, Any]) -> bool:
    """Replace the lock of an owner who is gone; False if another was quicker."""
    other = _found(place)
    if is_alive(other):
        raise FreqdynaError(
            f"out is {place.location!r}, which {_named(other)} is working on; wait for it, or stop "
            "it"
        )
    if not other and _is_young(place):
        return False
    place.remove(LOCK)
    return _create(place, owner)


def _renew(place: "Place", owner: dict[str, Any]) -> bool:
    """Give a sign of life; False if the lock is another's now, which is left as it is."""
    with _undisturbed(place):
        if place.read(LOCK) is None:
            return _create(place, owner)
        if _found(place).get("key") != owner["key"]:
            return False
        place.write(LOCK, _contents(owner))
        return True


def _create(place: "Place", owner: dict[str, Any]) -> bool:
    """Make the lock file; False if there is one."""
    try:
        place.create(LOCK, _contents(owner))
    except FileExistsError:
        return False
    return True


def _contents(owner: dict[str, Any]) -> bytes:
    return json.dumps(owner | {"time": time.time()}).encode()


def _found(place: "Place") -> dict[str, Any]:
    return place.read_json(LOCK) or {}


def _named(owner: dict[str, Any]) -> str:
    return printable(f"process {owner.get('pid')} on {owner.get('host')}", 100)


def _is_young(place: "Place") -> bool:
    """Whether the file has just been made: a lock that says nothing may be half written."""
    with suppress(OSError):
        written = os.lstat(f"{place.root}/{LOCK}").st_mtime if place.is_local else 0.0
        return abs(time.time() - written) < BEAT
    return False


@contextmanager
def _undisturbed(place: "Place") -> Iterator[bool]:
    """Keep others of this kind out meanwhile; says whether that can be.

    It can in a folder of a file system that locks folders: any on a disk of this machine, not every
    shared one, and no object store.
    """
    folder = _hold(place.root) if place.is_local else None
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
