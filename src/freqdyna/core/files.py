"""Files that appear whole, or not at all."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO

PARTIAL = ".*.partial"
"""The pattern of files that are half written."""


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a file that appears under `path` whole, or not at all."""
    # A name of its own: two writers do not mix, and a link that waits there is not followed.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.partial")
    try:
        with open(partial, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)  # on a full disk it would take the room of others
        raise
    folder = os.open(path.parent, os.O_RDONLY)  # the new name must reach the disk as well
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
