"""Named arrays with a JSON note in one file, written atomically and read as plain data.

The file is an uncompressed `.npz` archive, read with pickle disabled, so that nothing in it is
executed. The archive has a checksum for each array; its last member has the note and a list of the
arrays, so that no array can be missing, added or exchanged unnoticed. An array of a type that JAX
adds to NumPy, such as bfloat16, is stored as unsigned integers, and the list has its type.
"""

import hashlib
import io
import json
import math
import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import jax.numpy as jnp  # it adds types to NumPy
import numpy as np

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import check_regular, write_atomically

_CONTENTS = "contents.json"
"""The member with the note, the checksum of each array, and a digest of both."""
_NOTE = "note.json"
"""The member with the note in files of version 0.1, which have no list of arrays."""
_SUFFIX = ".npy"
_END = struct.Struct("<4s6xH10x")
"""The end of an archive: a signature, and the number of members."""
_KINDS = "biufcU"
"""The kinds of NumPy types that a stored array may have: Booleans, numbers and texts."""


def is_numeric(array: np.ndarray) -> bool:
    """Whether an array has numbers or Booleans, of a type of NumPy or one that JAX adds to it."""
    return array.dtype.kind in "biufc" or _is_added(array.dtype)


def save_arrays(path: Path, arrays: dict[str, np.ndarray], note: dict[str, Any]) -> None:
    """Write named arrays and a note to one file.

    Args:
        path: The file; it is replaced atomically if it exists.
        arrays: Arrays of any shape and numeric type, by name.
        note: Anything that JSON can represent.

    """
    write_atomically(path, lambda file: _write(file, arrays, note))


def load_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a file that `save_arrays` wrote.

    Returns:
        The arrays by name, and the note.

    Raises:
        FileNotFoundError: If there is no such file.
        DamagedFileError: If the file is incomplete, not what was written, or not a regular file.
        FreqdynaError: If it cannot be read.

    """
    try:
        check_regular(path)
        with open(path, "rb") as file:
            return _read(file)
    except DamagedFileError as error:
        raise DamagedFileError(f"{path} is damaged ({error})") from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FreqdynaError(f"{path} cannot be read: {error.strerror}") from None


def encode_arrays(arrays: dict[str, np.ndarray], note: dict[str, Any]) -> bytes:
    """The contents of the file that `save_arrays` would write."""
    file = io.BytesIO()
    _write(file, arrays, note)
    return file.getvalue()


def decode_arrays(contents: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Decode what `encode_arrays` returned: the arrays, and the note, which may be empty."""
    return _read(io.BytesIO(contents))


def _write(
    file: IO[bytes] | io.BytesIO, arrays: dict[str, np.ndarray], note: dict[str, Any]
) -> None:
    types = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, given in arrays.items():
            array = np.asanyarray(given)
            if _is_added(array.dtype):
                types[name] = array.dtype.name
                array = array.view(f"u{array.dtype.itemsize}")
            with archive.open(f"{name}{_SUFFIX}", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        sums = {info.filename.removesuffix(_SUFFIX): info.CRC for info in archive.infolist()}
        contents = {"digest": _digest(sums, note, types), "arrays": sums, "note": note}
        contents |= {"types": types} if types else {}
        text = np.frombuffer(json.dumps(contents).encode(), np.uint8)
        with archive.open(f"{_CONTENTS}{_SUFFIX}", "w") as member:
            np.lib.format.write_array(member, text)


def _read(file: IO[bytes] | io.BytesIO) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            size = file.seek(0, io.SEEK_END)
            if sum(info.file_size for info in members) > size:
                raise DamagedFileError("its arrays are larger than the file")
            # Damage to the list of members can make `zipfile` skip some of them.
            file.seek(max(size - _END.size, 0))
            if _END.unpack(file.read())[:2] != (b"PK\5\6", min(len(members), 0xFFFF)):
                raise DamagedFileError("its list of arrays is not complete")
            found = {_name(info): _read_array(archive, info) for info in members}
        if len(found) < len(members):
            raise DamagedFileError("two of its arrays have the same name")
        if _CONTENTS not in found:
            note = json.loads(bytes(found.pop(_NOTE))) if _NOTE in found else {}
        else:
            contents = json.loads(bytes(found.pop(_CONTENTS)))
            sums, note = contents["arrays"], contents["note"]
            if sums != {_name(info): info.CRC for info in members if _name(info) != _CONTENTS}:
                raise DamagedFileError("its arrays are not those that were written")
            types = contents.get("types", {})
            if contents["digest"] != _digest(sums, note, types):
                raise DamagedFileError("its note is not the one that was written")
            found |= {name: _as_added(name, found[name], kind) for name, kind in types.items()}
        if not isinstance(note, dict):
            raise DamagedFileError("its note is not a JSON object")
    except DamagedFileError:
        raise
    except Exception as error:  # a damaged archive fails in more ways than can be listed
        raise DamagedFileError(type(error).__name__) from None
    return found, note


def _name(info: zipfile.ZipInfo) -> str:
    return info.filename.removesuffix(_SUFFIX)


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array. Its size is checked before memory is allocated, its checksum while it is read."""
    name = repr(_name(info))
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
        raise DamagedFileError(f"its array {name} is compressed")
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(member)
        if dtype.kind not in _KINDS or not dtype.itemsize:
            raise DamagedFileError(f"its array {name} has the type {dtype}")
        # Bytes after the array would not be read, and its checksum would not be compared.
        if min(shape, default=0) < 0 or (
            math.prod(shape) * dtype.itemsize != info.file_size - member.tell()
        ):
            raise DamagedFileError(f"its array {name} does not have the size of its shape, {shape}")
    with archive.open(info) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _is_added(dtype: np.dtype) -> bool:
    """Whether a type is not one of NumPy's own, which alone can be read from a file."""
    return dtype.isbuiltin == 2


def _as_added(name: str, array: np.ndarray, kind: str) -> np.ndarray:
    """An array of unsigned integers as one of a type that JAX adds to NumPy, with the same bits."""
    dtype = jnp.dtype(kind)
    if not _is_added(dtype) or array.dtype != f"u{dtype.itemsize}":
        raise DamagedFileError(f"its array {name!r} has the type {dtype}")
    return array.view(dtype)


def _digest(sums: dict[str, int], note: Any, types: dict[str, str]) -> str:
    """A digest of the checksums of all arrays, of the note, and of types that JAX adds."""
    parts = [sums, note, types] if types else [sums, note]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
