"""Where a sweep keeps its files: a folder, or any location that fsspec knows, such as s3://.

sweep.toml              what is computed
units/NAME.parquet      a finished unit: its metrics, with settings and provenance
units/NAME.npz          its trained parameters
running/NAME.json       how far a unit is; running/NAME.npz its newest checkpoint
failed/NAME.json        why a unit failed
lock.json               who works on the sweep

Files appear whole or not at all, and no name leads out of the location.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from freqdyna.errors import FreqdynaError
from freqdyna.files import write_atomically
from freqdyna.sweeps.notes import printable

_NAMES = re.compile(r"(sweep\.toml|lock\.json|(units|running|failed)/[0-9a-f]{16}\.[a-z]+)\Z")
LOCK = "lock.json"
BEAT = 5.0
"""Seconds between two signs of life of the lock's owner."""
DEAD = 30.0
"""Seconds without one after which the owner counts as gone."""


class Place:
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

    def has(self, name: str) -> bool:
        """Whether the file is there."""
        return bool(self.fs.exists(self._path(name)))

    def read(self, name: str) -> bytes | None:
        """The contents of a file; None if there is none."""
        with suppress(FileNotFoundError):
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
        except FileNotFoundError:
            return set()
        names = (path.rsplit("/", 1)[-1] for path in paths)
        return {
            name.removesuffix(ending)
            for name in names
            if name.endswith(ending) and _NAMES.match(f"{folder}/{name}")
        }

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who works on the sweep; another owner who is alive is named."""
        owner = {"host": socket.gethostname(), "pid": os.getpid()}
        self._take(owner)
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(BEAT):
                with suppress(OSError):  # a full disk, say: what must be written says so itself
                    self.write_json(LOCK, owner | {"time": time.time()})

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self.remove(LOCK)

    def _take(self, owner: dict[str, Any]) -> None:
        contents = json.dumps(owner | {"time": time.time()}).encode()
        for _ in range(2):
            try:
                if self.is_local:
                    path = Path(self._path(LOCK))
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with path.open("xb") as file:
                        file.write(contents)
                else:
                    self.fs.pipe_file(self._path(LOCK), contents, mode="create")
                return
            except FileExistsError:
                other = self.read_json(LOCK) or {}
                if not other and self.is_local and _is_young(Path(self._path(LOCK))):
                    break
                if _is_alive(other, owner["host"]):
                    named = printable(f"process {other.get('pid')} on {other.get('host')}", 100)
                    raise FreqdynaError(
                        f"out is {self.location!r}, which {named} is working on; wait for it, or "
                        "stop it"
                    ) from None
                self.remove(LOCK)
            except OSError as error:
                raise FreqdynaError(
                    f"out is {self.location!r}, which cannot be written: {error}"
                ) from None
        raise FreqdynaError(f"out is {self.location!r}, which another process has just taken")

    def _path(self, name: str) -> str:
        if not _NAMES.match(name):
            raise FreqdynaError(f"{name!r} is not a file of a sweep")
        return f"{self.root}/{name}"


def _is_young(path: Path) -> bool:
    """Whether a file has just been made: a lock that says nothing may be half written."""
    with suppress(FileNotFoundError):
        return abs(time.time() - path.stat().st_mtime) < BEAT
    return False


def _is_alive(owner: dict[str, Any], host: str) -> bool:
    """Whether a lock's owner still works: it gives signs of life and, on this machine, it is there.

    A process alone says little: after a restart another may have its number.
    """
    try:
        pid, last = int(owner["pid"]), float(owner["time"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
    if not abs(time.time() - last) < DEAD:  # a time to come is none, but for clocks that differ
        return False
    if owner.get("host") == host:
        with suppress(PermissionError):  # it is another user's
            try:
                os.kill(pid, 0)
            except (ProcessLookupError, OverflowError):
                return False
    return True


def _as_tuple(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
