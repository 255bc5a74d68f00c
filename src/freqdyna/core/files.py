"""Writing files atomically, and reading them safely."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from freqdyna.core.errors import DamagedFileError, FreqdynaError

PARTIAL = ".*.partial"
"""The glob pattern of partially written files."""
_DAMAGED = "damaged-"
"""The prefix of the names of damaged files that were set aside."""


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
        with suppress(OSError):
            partial.unlink()  # on a full disk it would take up space that others need
        raise
    folder = os.open(path.parent, os.O_RDONLY)  # the new name must reach the disk as well
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_bytes(path: Path) -> bytes:
    """The contents of a regular file; anything else, such as a named pipe, is not opened.

    Raises:
        FileNotFoundError: If there is no such file.
        NotADirectoryError: If its folder is a file.
        DamagedFileError: If it is not a regular file.
        FreqdynaError: If it cannot be read.

    """
    check_regular(path)
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise FreqdynaError(f"{path} cannot be read: {error.strerror}") from None


def check_regular(path: Path) -> None:
    """Raise an error if `path` exists but is not a regular file: opening a pipe would block."""
    if path.exists() and not path.is_file():
        raise DamagedFileError("it is not a regular file")


def set_aside(path: Path) -> str:
    """Rename a damaged file so that it is not read again; nothing is lost.

    Returns:
        What happened, as the end of a sentence about the file.

    """
    new = path.with_name(f"{_DAMAGED}{path.name}")
    try:
        path.rename(new)
    except OSError:  # for example in a read-only folder
        return "it is ignored"
    return f"it was renamed to {new.name}"


def remove_partial_files(folder: Path, of: str = "") -> None:
    """Remove what writers that were killed left behind; nobody may be writing meanwhile.

    Args:
        folder: The folder.
        of: The name of a file, to remove only what was left of that file.

    """
    for path in folder.glob(PARTIAL):
        if path.name.startswith(f".{of}.") or not of:
            with suppress(OSError):
                path.unlink()
