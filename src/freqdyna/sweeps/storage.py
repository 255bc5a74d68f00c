"""Where a sweep keeps its files: a folder, or any location that fsspec knows, such as s3://.

sweep.toml              what is computed
units/NAME.parquet      a finished unit: its metrics, with settings and provenance
units/NAME.npz          its trained parameters
running/NAME.json       how far a unit is; running/NAME.npz its newest checkpoint
failed/NAME.json        why a unit failed
lock.json               who works on the sweep; .lock is what a folder is locked by

Files appear whole or not at all, and no name leads out of the location.
"""

import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import PARTIAL, write_atomically

_NAMES = re.compile(r"(sweep\.toml|lock\.json|(units|running|failed)/[0-9a-f]{16}\.[a-z]+)\Z")
_FOLDERS = ("units", "running", "failed")
FORGOTTEN = 3600.0
"""Seconds after which a file that is half written has no writer any more."""


class Storage:
    """The files of one sweep."""

    def __init__(self, location: str) -> None:
        from fsspec.core import url_to_fs

        self.location = location
        try:
            self.fs, self.root = url_to_fs(location)
        except (ImportError, ValueError) as error:
            raise FreqdynaError(f"out is {location!r}, which cannot be used: {error}") from None
        self.root = self.root.rstrip("/")
        self.is_local = "file" in _as_tuple(self.fs.protocol)
        if self.is_local:  # fsspec's root is absolute: workers may have another working folder
            self.location = self.root
            self._refuse_what_is_no_folder()

    def has(self, name: str) -> bool:
        """Whether the file is there."""
        return bool(self.fs.exists(self._path(name)))

    def read(self, name: str) -> bytes | None:
        """The contents of a file; None if there is none."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return self.fs.cat_file(self._path(name))
        return None

    def read_json(self, name: str) -> dict[str, Any] | None:
        """A JSON object; None if there is none, or if it is not one."""
        with suppress(ValueError, RecursionError):
            found = json.loads(self.read(name) or b"null")
            return found if isinstance(found, dict) else None
        return None

    def write(self, name: str, contents: bytes) -> None:
        """Let a file appear, whole."""
        path = self._path(name)
        if self.is_local:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(Path(path), lambda file: file.write(contents))
        else:
            self.fs.pipe_file(path, contents)  # whole or not at all on object stores

    def create(self, name: str, contents: bytes) -> None:
        """Make a new file on an object store; FileExistsError if there is one."""
        self.fs.pipe_file(self._path(name), contents, mode="create")

    def write_json(self, name: str, contents: dict[str, Any]) -> None:
        """Let a JSON file appear."""
        self.write(name, json.dumps(contents).encode())

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError):
            self.fs.rm_file(self._path(name))

    def units(self, folder: str, ending: str) -> set[str]:
        """The names of the units that have a file with that ending in a folder."""
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
        """Remove what writers who were killed left half written."""
        if self.is_local:
            for path in (*Path(self.root).glob(PARTIAL), *Path(self.root).glob(f"*/{PARTIAL}")):
                with suppress(OSError):
                    if time.time() - path.lstat().st_mtime > FORGOTTEN:
                        path.unlink()

    def _refuse_what_is_no_folder(self) -> None:
        """A file, or a folder of files that leads elsewhere: writing there would do harm."""
        if os.path.exists(self.root) and not os.path.isdir(self.root):
            raise FreqdynaError(f"out is {self.location!r}, a file; it must be a folder")
        for folder in _FOLDERS:
            leads_to = os.path.realpath(f"{self.root}/{folder}")
            if leads_to != f"{os.path.realpath(self.root)}/{folder}":
                raise FreqdynaError(
                    f"out is {self.location!r}, where {folder} leads to {leads_to!r}; it must be "
                    "a folder there"
                )

    def _path(self, name: str) -> str:
        if not _NAMES.match(name):
            raise FreqdynaError(f"{name!r} is not a file of a sweep")
        return f"{self.root}/{name}"


def _as_tuple(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
