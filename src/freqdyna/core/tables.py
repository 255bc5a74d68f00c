"""Tables of columns that carry their own facts: Parquet, or `.npz` where pyarrow is missing.

Files may come from anyone: nothing in them executes, and what is not as it must be is refused.
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.core.arrays import DamagedFileError, decode_arrays, encode_arrays
from freqdyna.core.files import write_atomically

Columns = dict[str, np.ndarray]
"""A table: columns of equal length by name."""
_FACTS = b"freqdyna"
"""The key of the facts in a Parquet file's metadata."""
_PARQUET = b"PAR1"
"""How every Parquet file begins."""


def encode_table(columns: Columns, facts: dict[str, Any]) -> bytes:
    """Encode a table as the contents of a file.

    Args:
        columns: The columns, of numbers or texts; repeated texts take next to no room.
        facts: What JSON can hold.

    Returns:
        Parquet, or an `.npz` archive with the same columns where pyarrow is missing.

    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return encode_arrays(columns, facts)
    arrays = {name: pyarrow.array(column) for name, column in columns.items()}
    texts = [name for name, array in arrays.items() if array.type == pyarrow.string()]
    arrays |= {name: arrays[name].dictionary_encode() for name in texts}
    table = pyarrow.table(arrays).replace_schema_metadata({_FACTS: json.dumps(facts).encode()})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, compression="zstd", compression_level=12)
    return file.getvalue()


def decode_table(contents: bytes) -> tuple[Columns, dict[str, Any]]:
    """Decode what `encode_table` returned, or a Parquet file without facts.

    Args:
        contents: Of the whole file; either format is read.

    Returns:
        The columns, and the facts; empty if there are none.

    """
    if contents[: len(_PARQUET)] != _PARQUET:
        return decode_arrays(contents)
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(io.BytesIO(contents))
        facts = json.loads((table.schema.metadata or {}).get(_FACTS, b"{}"))
        if not isinstance(facts, dict):
            raise TypeError("its facts are not a table")
        return {name: table.column(name).to_numpy() for name in table.column_names}, facts
    except (
        *(pyarrow.ArrowException, OSError, LookupError),
        *(TypeError, ValueError, RecursionError),
    ) as error:
        raise DamagedFileError(str(error)) from None


def find_table(path: Path) -> Path | None:
    """The file of the table called `path`: it, or the same name with `.npz`; None if missing."""
    names = (path, path.with_suffix(".npz"))
    return next((name for name in names if name.is_file()), None)


def write_table(path: Path, contents: bytes) -> None:
    """Write an encoded table under the name `path`, or the same name with `.npz` if it is one.

    An older file under the other of the two names is removed.
    """
    other = path.with_suffix(".npz")
    if contents[: len(_PARQUET)] != _PARQUET:
        path, other = other, path
    write_atomically(path, lambda file: file.write(contents))
    other.unlink(missing_ok=True)
