"""The files of a sweep: in a folder, or at any location that fsspec supports, such as s3://.

sweep.toml              the sweep file
units/NAME.parquet      a finished unit: its metrics, with settings and provenance
units/NAME.npz          its trained parameters
running/NAME.json       the progress of a unit; running/NAME.npz is its newest checkpoint
failed/NAME.json        why a unit failed
durations/NAME.json     how long a finished unit took, for estimates of the remaining time
lock.json               the process that works on the sweep; .lock is the lock of a folder

Files are written atomically, and no name can point outside the location.
"""

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import PARTIAL, read_bytes, write_atomically

_FOLDERS = ("units", "running", "failed", "durations")
_NAMES = re.compile(rf"(sweep\.toml|lock\.json|({'|'.join(_FOLDERS)})/[0-9a-f]{{16}}\.[a-z]+)\Z")
FORGOTTEN = 3600.0
"""Seconds after which a partially written file is assumed to be abandoned."""


class Storage:
    """The files of one sweep.

    Args:
        location: A folder, or an address such as s3://bucket/sweep.

    """

    def __init__(self, location: str) -> None:
        from fsspec.core import url_to_fs

        self.location = location
        try:
            self.fs, self.root = url_to_fs(location)
        except Exception as error:  # each kind of location has errors of its own
            raise FreqdynaError(f"out is {location!r}, which cannot be used: {error}") from None
        self.root = self.root.rstrip("/")
        self.is_local = "file" in _as_tuple(self.fs.protocol)
        if self.is_local:  # fsspec's root is absolute: workers may have another working folder
            self.location = self.root
            self._check_folders()

    def has(self, name: str) -> bool:
        """Whether the file exists."""
        return bool(self.fs.exists(self._path(name)))

    def read(self, name: str) -> bytes | None:
        """The contents of a file; None if it does not exist.

        Raises:
            FreqdynaError: If it is in a folder, but not a regular file, or cannot be read.

        """
        path = self._path(name)
        try:
            return read_bytes(Path(path)) if self.is_local else self.fs.cat_file(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except DamagedFileError as error:
            raise FreqdynaError(f"{path} is damaged ({error}); remove it") from None

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The JSON object in a file; None if it does not exist or is not a JSON object."""
        with suppress(FreqdynaError, ValueError, RecursionError):
            found = json.loads(self.read(name) or b"null")
            return found if isinstance(found, dict) else None
        return None

    def write(self, name: str, contents: bytes) -> None:
        """Write a file atomically."""
        path = self._path(name)
        if self.is_local:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(Path(path), lambda file: file.write(contents))
        else:
            self.fs.pipe_file(path, contents)  # atomic on object stores

    def create(self, name: str, contents: bytes) -> None:
        """Create a new file on an object store; raises FileExistsError if it exists."""
        self.fs.pipe_file(self._path(name), contents, mode="create")

    def write_json(self, name: str, contents: dict[str, Any]) -> None:
        """Write a JSON file atomically."""
        self.write(name, json.dumps(contents).encode())

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        with suppress(FileNotFoundError):
            self.fs.rm_file(self._path(name))

    def units(self, folder: str, ending: str) -> set[str]:
        """The names of the units that have a file with this ending in a folder."""
        self.fs.invalidate_cache()
        try:
            paths = self.fs.ls(f"{self.root}/{folder}", detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return set()
        names = (path.rsplit("/", 1)[-1] for path in paths)
        return {
            name.removesuffix(ending)
            for name in names
            if name.endswith(ending) and _NAMES.match(f"{folder}/{name}")
        }

    def remove_partial_files(self) -> None:
        """Remove partially written files of processes that were killed."""
        if self.is_local:
            for path in (*Path(self.root).glob(PARTIAL), *Path(self.root).glob(f"*/{PARTIAL}")):
                with suppress(OSError):
                    if time.time() - path.lstat().st_mtime > FORGOTTEN:
                        path.unlink()

    def _check_folders(self) -> None:
        """Raise an error for a file, or for subfolders that are links to somewhere else."""
        if os.path.exists(self.root) and not os.path.isdir(self.root):
            raise FreqdynaError(f"out is {self.location!r}, a file; it must be a folder")
        for folder in _FOLDERS:
            leads_to = os.path.realpath(f"{self.root}/{folder}")
            if leads_to != f"{os.path.realpath(self.root)}/{folder}":
                raise FreqdynaError(
                    f"out is {self.location!r}, where {folder} is a link to {leads_to!r}; it must "
                    "be a folder"
                )

    def _path(self, name: str) -> str:
        if not _NAMES.match(name):
            raise FreqdynaError(f"{name!r} is not a file of a sweep")
        return f"{self.root}/{name}"


def _as_tuple(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
