"""Files: written whole or not at all, by one process at a time, and never read with damage.

Arrays are `.npz` archives, in which every member has a checksum; nothing in them is executed.
Tables are Parquet, texts are TOML and JSON. These have a seal: a text somewhere in the file with
the CRC-32 of the whole file, so that every bit counts.
"""

import io
import json
import os
import platform
import re
import secrets
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from freqdyna.core.errors import DamagedFileError, FreqdynaError

PARTIAL = ".*.partial"
"""The glob pattern of partially written files."""
LOCK, OWNER = ".lock", "locked-by.txt"
"""The file that the operating system locks, which stays, and the process that holds the lock."""
UNSEALED = "crc32:00000000"
"""What stands in a file in place of its seal until it is sealed."""
_SEAL = re.compile(rb"crc32:[0-9a-f]{8}")
_NOTE = "note.json"
"""The member of an archive with the note, and with the names and types of the others."""
_CHECKSUM = "checksum"
"""The key of the seal in JSON, and in the metadata of a Parquet file."""


def write_atomically(path: Path, contents: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file, or let a function write it, so that `path` is complete or unchanged."""
    # A unique name: two writers do not interfere, and no symbolic link is followed.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.partial")
    try:
        with open(partial, "xb") as file:
            file.write(contents) if isinstance(contents, bytes) else contents(file)
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


def remove_partial_files(folder: Path) -> None:
    """Remove what writers that were killed left behind; nobody may be writing meanwhile."""
    for path in folder.rglob(PARTIAL):
        path.unlink(missing_ok=True)


@contextmanager
def locked_folder(folder: Path, argument: str = "out") -> Iterator[str | None]:
    """Hold the lock of a folder, which is created if needed; messages call it `argument`.

    Yields the process that held the lock before if it ended without releasing it, otherwise None.
    """
    from filelock import FileLock, Timeout  # here, since the command line starts faster without

    owner, lock = folder / OWNER, FileLock(folder / LOCK, timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()  # the operating system releases the lock of a process that was killed
    except Timeout:
        holder = owner.read_text() if owner.is_file() else "another process"
        raise FreqdynaError(
            f"{argument} is {str(folder)!r}, which {holder} is working on; wait for it, or stop it"
        ) from None
    except OSError as error:
        text = f"{argument} is {str(folder)!r}, which cannot be written: {error}"
        raise FreqdynaError(text) from None
    try:
        before = owner.read_text() if owner.is_file() else None
        with suppress(OSError):  # on a full disk the lock works without the owner's name
            owner.write_text(f"process {os.getpid()} on {platform.node()}")
        yield before
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


def sealed(contents: bytes) -> bytes:
    """The contents with the CRC-32 of all of them in place of `UNSEALED`."""
    if _SEAL.findall(contents) != [UNSEALED.encode()]:
        raise ValueError(f"the contents do not have {UNSEALED!r} once")
    return contents.replace(UNSEALED.encode(), b"crc32:%08x" % zlib.crc32(contents))


def check_seal(contents: bytes) -> None:
    """Raise DamagedFileError unless the contents are what was sealed."""
    seals = _SEAL.findall(contents)
    if len(seals) != 1:
        raise DamagedFileError("it has no checksum of this version of freqdyna")
    if b"crc32:%08x" % zlib.crc32(contents.replace(seals[0], UNSEALED.encode())) != seals[0]:
        raise DamagedFileError("its checksum does not match")


def encode_json(facts: dict[str, Any]) -> bytes:
    """A JSON object as a sealed file."""
    return sealed(json.dumps({_CHECKSUM: UNSEALED} | facts, indent=2).encode() + b"\n")


def decode_json(contents: bytes) -> dict[str, Any]:
    """What `encode_json` encoded; DamagedFileError if it is something else."""
    check_seal(contents)
    facts: dict[str, Any] = json.loads(contents)
    del facts[_CHECKSUM]
    return facts


def encode_toml(text: str, title: str) -> bytes:
    """A TOML text as a sealed file, whose first line is a comment with a title and the seal."""
    lines = [line for line in text.splitlines() if not _SEAL.search(line.encode())]
    return sealed("\n".join([f"# {title} ({UNSEALED})", *lines, ""]).encode())


def read_text(path: Path, kind: str) -> str:
    """The text of a file; `kind` says in messages what the file is."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FreqdynaError(f"no {kind} at {path}") from None
    except (OSError, ValueError) as error:  # ValueError: it is not UTF-8, or such a path cannot be
        raise FreqdynaError(f"{str(path)!r} cannot be read: {error}") from None


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML file; `file` is its name in messages."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FreqdynaError(f"{file} is not a TOML file: {error}") from None


def toml_value(value: object) -> str:
    """A string, a number, a Boolean or a tuple of them as TOML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    # Strings and integers have the same form in TOML and JSON.
    return repr(value) if isinstance(value, float) else json.dumps(value)


def save_arrays(path: Path, arrays: dict[str, np.ndarray], note: dict[str, Any]) -> None:
    """Write named arrays, and a note that JSON can represent, to one file."""
    write_atomically(path, lambda file: _write_arrays(file, arrays, note))


def load_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the note that `save_arrays` wrote; DamagedFileError if they are others."""
    with open(path, "rb") as file:
        try:
            return _read_arrays(file)
        except DamagedFileError as error:
            raise DamagedFileError(f"{path} is damaged ({error})") from None


def encode_arrays(arrays: dict[str, np.ndarray], note: dict[str, Any]) -> bytes:
    """The contents of the file that `save_arrays` would write."""
    file = io.BytesIO()
    _write_arrays(file, arrays, note)
    return file.getvalue()


def decode_arrays(contents: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the note that `encode_arrays` encoded."""
    return _read_arrays(io.BytesIO(contents))


def _write_arrays(file: IO[bytes], arrays: dict[str, np.ndarray], note: dict[str, Any]) -> None:
    types = {name: array.dtype.name for name, array in arrays.items()}
    text = json.dumps([types, note]).encode()
    members: dict[str, Any] = {
        # NumPy cannot read the types that JAX adds to it.
        name: array.view(f"u{array.dtype.itemsize}") if array.dtype.isbuiltin == 2 else array
        for name, array in arrays.items()
    }
    members[_NOTE] = np.frombuffer(text, np.uint8)
    np.savez(file, **members)


def _read_arrays(file: IO[bytes]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    from zipfile import ZipFile

    import ml_dtypes  # noqa: F401  # adds the types of JAX to NumPy

    arrays = {}
    try:
        with ZipFile(file) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                    if member.read(1):  # at its end the checksum is compared
                        raise DamagedFileError(f"its array {name!r} is too long")
                arrays[name.removesuffix(".npy")] = array
        types, note = json.loads(bytes(arrays.pop(_NOTE)))
        if list(types) != list(arrays):
            raise DamagedFileError("arrays are missing")
        others = [name for name, array in arrays.items() if array.dtype.name != types[name]]
        arrays |= {name: arrays[name].view(types[name]) for name in others}
    except DamagedFileError:
        raise
    except Exception as error:  # a damaged archive fails in more ways than can be listed
        raise DamagedFileError(f"{type(error).__name__}: {error}") from None
    return arrays, note


def encode_table(columns: Mapping[str, Any]) -> bytes:
    """A table, whose columns PyArrow can convert, as a sealed Parquet file."""
    import pyarrow
    import pyarrow.parquet

    table, file = pyarrow.table(columns), io.BytesIO()
    options = {"compression": "zstd", "compression_level": 12, "write_page_checksum": True}
    options["store_schema"] = False  # it would be a second copy of types and metadata
    with pyarrow.parquet.ParquetWriter(file, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_CHECKSUM: UNSEALED})
    return sealed(file.getvalue())


def decode_table(contents: bytes) -> dict[str, np.ndarray]:
    """The columns that `encode_table` encoded, as arrays."""
    table = decode_arrow_table(contents)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def decode_arrow_table(contents: bytes) -> Any:
    """The table that `encode_table` encoded, as PyArrow's; DamagedFileError for anything else."""
    import pyarrow.parquet

    check_seal(contents)
    try:
        file = pyarrow.parquet.ParquetFile(
            io.BytesIO(contents), page_checksum_verification=True, pre_buffer=False
        )
        # Without PyArrow's threads: a process that exits while they start is aborted.
        return file.read(use_threads=False)
    except Exception as error:  # a file of another program
        raise DamagedFileError(f"{type(error).__name__}: {error}") from None
