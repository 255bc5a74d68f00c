"""The lock of a folder, so that only one process at a time works on it.

The operating system locks a file in the folder, and releases the lock of a process that was killed.
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import read_bytes, write_atomically

OWNER = "lock.json"
"""The process that holds the lock."""
LOCK = ".lock"
"""The file that the operating system locks; it remains there, empty."""


@contextmanager
def locked_folder(folder: Path, argument: str = "out") -> Iterator[str | None]:
    """Hold the lock of a folder, which is created if it does not exist.

    Args:
        folder: The folder.
        argument: The name of the argument that is the folder, for messages.

    Yields:
        The process that held the lock before, if it ended without releasing it; otherwise None.

    Raises:
        FreqdynaError: If another process holds the lock, or the folder cannot be written.

    """
    owner, lock = folder / OWNER, FileLock(folder / LOCK, timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise FreqdynaError(
            f"{argument} is {str(folder)!r}, which {_read_owner(owner) or 'another process'} is "
            "working on; wait for it, or stop it"
        ) from None
    except OSError as error:
        raise FreqdynaError(
            f"{argument} is {str(folder)!r}, which cannot be written: {error}"
        ) from None
    try:
        before = _read_owner(owner)
        with suppress(OSError):  # on a full disk the lock works without the owner's name
            text = json.dumps(this_process()).encode()
            write_atomically(owner, lambda file: file.write(text))
        yield before
    finally:
        with suppress(OSError):
            owner.unlink()
        lock.release()


def this_process() -> dict[str, Any]:
    """The host and the number of this process."""
    return {"host": socket.gethostname(), "pid": os.getpid()}


def process_text(owner: object) -> str | None:
    """A process as text, given what `this_process` returned; None if it is not valid."""
    if not isinstance(owner, dict):
        return None
    pid, host = owner.get("pid"), owner.get("host")
    if type(pid) is not int or not isinstance(host, str) or not host[:100].isprintable():
        return None  # the content of the file is not trusted: it is shown on a terminal
    return f"process {pid} on {host[:100]}"


def _read_owner(path: Path) -> str | None:
    try:
        return process_text(json.loads(read_bytes(path)))
    except (FreqdynaError, OSError, ValueError, RecursionError):
        return None
