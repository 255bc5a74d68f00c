"""The files of a sweep: in a folder, or at any location that fsspec supports, such as s3://.

sweep.toml          the sweep file
units/NAME/         a finished unit, with the files of a run folder
running/NAME.json   the progress of a unit
running/NAME/       its run folder, with its newest checkpoints
failed/NAME.json    why a unit failed
lock.txt            the process that works on the sweep

Files are written atomically.
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import PARTIAL, locked_folder, write_atomically

_OWNER = "lock.txt"
"""The process that works on a sweep at a location that is no folder."""


class Storage:
    """The files of one sweep; its location is a folder, or an address such as s3://bucket/sweep."""

    def __init__(self, location: str) -> None:
        from fsspec.core import url_to_fs

        self.location = str(location)
        try:
            self.fs, self.root = url_to_fs(self.location)
        except Exception as error:  # each kind of location has errors of its own
            raise FreqdynaError(f"out is {location!r}, which cannot be used: {error}") from None
        self.root = self.root.rstrip("/")
        self.is_local = "file" in self.fs.protocol
        if self.is_local:  # fsspec's root is absolute: workers may have another working folder
            self.location = self.root

    def has(self, name: str) -> bool:
        """Whether the file exists."""
        return bool(self.fs.exists(f"{self.root}/{name}"))

    def read(self, name: str) -> bytes | None:
        """The contents of a file; None if it does not exist."""
        try:
            return bytes(self.fs.cat_file(f"{self.root}/{name}"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_json(self, name: str) -> dict[str, Any]:
        """The JSON object in a file; empty if the file does not exist."""
        return dict(json.loads(self.read(name) or b"{}"))

    def write(self, name: str, contents: bytes) -> None:
        """Write a file atomically."""
        path = f"{self.root}/{name}"
        if self.is_local:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(Path(path), contents)
        else:
            self.fs.pipe_file(path, contents)  # atomic on object stores

    def write_json(self, name: str, contents: dict[str, Any]) -> None:
        """Write a JSON file atomically."""
        self.write(name, json.dumps(contents).encode())

    def remove(self, name: str) -> None:
        """Remove a file or a folder if it exists."""
        with suppress(FileNotFoundError):
            self.fs.rm(f"{self.root}/{name}", recursive=True)

    def files(self, folder: str) -> list[str]:
        """The names of all files in a folder and its subfolders, relative to the folder."""
        self.fs.invalidate_cache()
        path = f"{self.root}/{folder}/"
        names = (file.removeprefix(path) for file in sorted(self.fs.find(path)))
        return [name for name in names if not Path(name).match(PARTIAL)]

    def lock(self, take_over: bool = False) -> AbstractContextManager[object]:
        """Let only one process at a time compute the sweep.

        `take_over` ignores the lock of a process that was killed. A folder does not need it,
        because the operating system releases its lock.
        """
        return locked_folder(Path(self.root)) if self.is_local else self._lock_file(take_over)

    @contextmanager
    def _lock_file(self, take_over: bool) -> Iterator[None]:
        """Create a file, which object stores do only if there is none."""
        since = datetime.now(UTC).isoformat(" ", "seconds")
        owner = f"process {os.getpid()} on {socket.gethostname()} since {since}".encode()
        if take_over:
            self.remove(_OWNER)
        try:
            self.fs.pipe_file(f"{self.root}/{_OWNER}", owner, mode="create")
        except FileExistsError:
            holder = (self.read(_OWNER) or b"another process").decode()
            raise FreqdynaError(
                f"out is {self.location!r}, locked by {holder}; wait for it, or stop it; if it was "
                "killed, add --take-over"
            ) from None
        try:
            yield
        finally:
            if self.read(_OWNER) == owner:
                self.remove(_OWNER)
