"""Writing files atomically."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO

PARTIAL = ".*.partial"
"""The glob pattern of partially written files."""


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that `path` is either complete or unchanged.

    Args:
        path: The file to create or replace; its folder must exist.
        write: Called with a binary file to write the content to.

    """
    # A unique name: two writers do not interfere, and a symbolic link placed there is not followed.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.partial")
    try:
        with open(partial, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)  # on a full disk it would take up space that others need
        raise
    folder = os.open(path.parent, os.O_RDONLY)  # the new name must reach the disk as well
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
