"""Named arrays with a JSON note in one file, written atomically and read as plain data.

The file is an uncompressed `.npz` archive, read with pickle disabled: nothing in it can execute.
The archive carries a checksum of each array, so that a damaged file is noticed.
"""

import json
from pathlib import Path
from typing import Any

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
    text = np.frombuffer(json.dumps(note).encode(), np.uint8)
    write_atomically(path, lambda file: np.savez(file, **{_NOTE: text, **arrays}))  # type: ignore[arg-type]


def load_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a file that `save_arrays` wrote.

    Returns:
        The arrays by name, and the note.

    Raises:
        DamagedFileError: If the file is incomplete or a checksum does not match.

    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        note = json.loads(bytes(arrays.pop(_NOTE)))
    except Exception as error:  # a damaged archive fails in more ways than can be listed
        raise DamagedFileError(f"{path} is damaged ({type(error).__name__})") from None
    return arrays, note
