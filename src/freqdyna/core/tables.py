"""Tables with metadata as files: Parquet, or `.npz` if pyarrow is missing.

Files may come from untrusted sources: nothing in them is executed, and invalid content is rejected.
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
"""The key of our metadata in a Parquet file."""
_PARQUET = b"PAR1"
"""The first bytes of every Parquet file."""


def encode_table(columns: Columns, facts: dict[str, Any]) -> bytes:
    """Encode a table as the contents of a file.

    Args:
        columns: Columns of numbers or texts; repeated texts take up hardly any space.
        facts: Metadata, in types that JSON can represent.

    Returns:
        Parquet, or an `.npz` archive with the same columns if pyarrow is missing.

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
    """Decode what `encode_table` returned, or a Parquet file without our metadata.

    Args:
        contents: The contents of the file, in either format.

    Returns:
        The columns, and the metadata, which may be empty.

    """
    if contents[: len(_PARQUET)] != _PARQUET:
        return decode_arrays(contents)
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(io.BytesIO(contents))
        facts = json.loads((table.schema.metadata or {}).get(_FACTS, b"{}"))
        if not isinstance(facts, dict):
            raise TypeError("its metadata is not a JSON object")
        return {name: table.column(name).to_numpy() for name in table.column_names}, facts
    except (
        *(pyarrow.ArrowException, OSError, LookupError),
        *(TypeError, ValueError, RecursionError),
    ) as error:
        raise DamagedFileError(str(error)) from None


def find_table(path: Path) -> Path | None:
    """The file of a table: `path`, or the same name with `.npz`; None if there is neither."""
    names = (path, path.with_suffix(".npz"))
    return next((name for name in names if name.is_file()), None)


def write_table(path: Path, contents: bytes) -> None:
    """Write an encoded table to `path`, or to the same name with `.npz` if it is such an archive.

    An older file with the other name is removed.
    """
    other = path.with_suffix(".npz")
    if contents[: len(_PARQUET)] != _PARQUET:
        path, other = other, path
    write_atomically(path, lambda file: file.write(contents))
    other.unlink(missing_ok=True)
