"""Files that appear whole, or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a file that appears under `path` whole, or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with open(partial, "wb") as file:
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
