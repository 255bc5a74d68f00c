"""The lock of a sweep, so that only one process at a time works on it.

A folder is locked by the operating system, see `core.lock`. On an object store, which has no locks,
the lock is a file that its owner renews every few seconds; a lock that is not renewed is taken
over.
"""

import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.lock import OWNER, locked_folder, process_text, this_process
from freqdyna.sweeps.storage import Storage

RENEWAL = 5.0
"""Seconds between heartbeats of an owner on an object store."""
EXPIRY = 30.0
"""Seconds without a heartbeat after which the lock is taken over."""
SETTLE = 2.0
"""Seconds to wait after taking over a lock: if several processes do so, the last one owns it."""


@contextmanager
def locked(storage: Storage) -> Iterator[None]:
    """Hold the lock of the sweep.

    Raises:
        FreqdynaError: If another process holds it; the message names that process.

    """
    if storage.is_local:
        with locked_folder(Path(storage.root)):
            yield
    else:
        with _locked_location(storage):
            yield


@contextmanager
def _locked_location(storage: Storage) -> Iterator[None]:
    owner = this_process() | {"key": secrets.token_hex(8)}
    try:
        _take(storage, owner)
    except OSError as error:
        raise FreqdynaError(
            f"out is {storage.location!r}, which cannot be written: {error}"
        ) from None
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEWAL):
            with suppress(Exception):  # for example if the network is down: try again later
                other = storage.read_json(OWNER) or owner
                if other.get("key") != owner["key"]:
                    print(
                        f"freqdyna: out is {storage.location!r}, which {_named(other)} has taken "
                        "over: this process was unresponsive for too long",
                        file=sys.stderr,
                    )
                    return
                storage.write(OWNER, _signed(owner))

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(Exception):
            if (storage.read_json(OWNER) or {}).get("key") == owner["key"]:
                storage.remove(OWNER)


def _take(storage: Storage, owner: dict[str, Any]) -> None:
    """Create the lock file, or take over one that is no longer renewed."""
    with suppress(FileExistsError):
        storage.create(OWNER, _signed(owner))
        return
    other = storage.read_json(OWNER) or {}
    if _is_renewed(other):
        raise _is_working(storage, other)
    storage.remove(OWNER)
    with suppress(FileExistsError):
        storage.create(OWNER, _signed(owner))
    time.sleep(SETTLE)
    other = storage.read_json(OWNER) or {}
    if other.get("key") != owner["key"]:
        raise _is_working(storage, other)


def _is_renewed(owner: dict[str, Any]) -> bool:
    """Whether the last heartbeat of an owner is recent; times in the future do not count."""
    signed = owner.get("time")
    return isinstance(signed, int | float) and abs(time.time() - signed) < EXPIRY


def _signed(owner: dict[str, Any]) -> bytes:
    return json.dumps(owner | {"time": time.time()}).encode()


def _named(owner: dict[str, Any]) -> str:
    return process_text(owner) or "another process"


def _is_working(storage: Storage, owner: dict[str, Any]) -> FreqdynaError:
    return FreqdynaError(
        f"out is {storage.location!r}, which {_named(owner)} is working on; wait for it, or stop "
        f"it (if it was killed, wait {EXPIRY:.0f} seconds)"
    )
