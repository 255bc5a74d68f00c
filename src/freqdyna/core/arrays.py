"""Named arrays with a JSON note in one file, written atomically and read as plain data.

The file is an uncompressed `.npz` archive, read with pickle disabled, so that nothing in it is
executed. The archive has a checksum for each array, so that a damaged file is detected.
"""

import io
import json
from pathlib import Path
from typing import IO, Any

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import write_atomically

_NOTE = "note.json"


class DamagedFileError(FreqdynaError):
    """A file is damaged and cannot be read."""


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
        DamagedFileError: If the file is incomplete or a checksum does not match.

    """
    try:
        return _read(path)
    except DamagedFileError as error:
        raise DamagedFileError(f"{path} is damaged ({error})") from None


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
    text = np.frombuffer(json.dumps(note).encode(), np.uint8)
    np.savez(file, **{_NOTE: text, **arrays})  # type: ignore[arg-type]


def _read(source: Path | io.BytesIO) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        with np.load(source, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        note = json.loads(bytes(arrays.pop(_NOTE))) if _NOTE in arrays else {}
        if not isinstance(note, dict):
            raise TypeError("its note is not a JSON object")
    except Exception as error:  # a damaged archive fails in more ways than can be listed
        raise DamagedFileError(type(error).__name__) from None
    return arrays, note
