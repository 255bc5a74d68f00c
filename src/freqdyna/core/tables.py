"""Tables with metadata as files: Parquet, or `.npz` if pyarrow is missing.

Files may come from untrusted sources: nothing in them is executed, and invalid content is rejected.
The digest of the columns and of the metadata is stored with them, so that what is read is what was
written. Files of version 0.1 have none.
"""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.core.arrays import decode_arrays, encode_arrays
from freqdyna.core.errors import DamagedFileError
from freqdyna.core.files import write_atomically

Columns = dict[str, np.ndarray]
"""A table: columns of equal length by name."""
_FACTS, _DIGEST = b"freqdyna.facts", b"freqdyna.sha256"
"""The keys of our metadata in a Parquet file: the metadata as JSON, and the digest."""
_FACTS_0_1 = b"freqdyna"
"""The key in files of version 0.1, some of which have no metadata."""
_PARQUET = b"PAR1"
"""The first bytes of every Parquet file."""
_LARGEST_TABLE, _LARGEST_RATIO = 2**28, 1000
"""A table may take up this many bytes in memory, or this many times the size of its file."""


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
    text = json.dumps(facts).encode()
    table, file = pyarrow.table(arrays), io.BytesIO()
    with pyarrow.parquet.ParquetWriter(
        file,
        table.schema,
        compression="zstd",
        compression_level=12,
        write_page_checksum=True,
        store_schema=False,  # it would be a second copy of types and metadata
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_FACTS: text, _DIGEST: _digest(columns, text)})
    return file.getvalue()


def decode_table(contents: bytes) -> tuple[Columns, dict[str, Any]]:
    """Decode what `encode_table` returned, or a Parquet file without our metadata.

    Args:
        contents: The contents of the file, in either format.

    Returns:
        The columns, and the metadata, which may be empty.

    Raises:
        DamagedFileError: If it is not what was written.

    """
    if contents[: len(_PARQUET)] != _PARQUET:
        return decode_arrays(contents)
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(
            io.BytesIO(contents), page_checksum_verification=True, pre_buffer=False
        )
        size = 8 * file.metadata.num_rows * file.metadata.num_columns
        if not 0 <= size <= max(_LARGEST_TABLE, _LARGEST_RATIO * len(contents)):
            raise DamagedFileError(f"it has {file.metadata.num_rows:,} rows")
        # Without PyArrow's threads: a process that exits while they start is aborted.
        table = file.read(use_threads=False)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        facts = json.loads(_checked_facts(contents, columns, file.metadata.metadata or {}))
        if not isinstance(facts, dict):
            raise DamagedFileError("its metadata is not a JSON object")
    except DamagedFileError:
        raise
    except Exception as error:  # a damaged file fails in more ways than can be listed
        reason = str(error).splitlines()
        raise DamagedFileError(reason[0] if reason else type(error).__name__) from None
    return columns, facts


def _checked_facts(contents: bytes, columns: Columns, metadata: dict[bytes, bytes]) -> bytes:
    """The metadata of a table as JSON, after comparing the digest, if the file has one."""
    if set(metadata) == {_FACTS, _DIGEST}:
        if metadata[_DIGEST] != _digest(columns, metadata[_FACTS]):
            raise DamagedFileError("its checksum does not match")
        return metadata[_FACTS]
    # Damage can hide the metadata from the reader, but does not remove their names.
    if _FACTS in contents or _DIGEST in contents:
        raise DamagedFileError("its checksum is missing")
    return metadata.get(_FACTS_0_1, b"{}")


def _digest(columns: Columns, facts: bytes) -> bytes:
    """The SHA-256 of the names, types and values of columns, and of the metadata."""
    digest = hashlib.sha256(facts)
    for name, values in columns.items():
        if values.dtype.kind in "biuf":
            kind, raw = values.dtype.str, np.ascontiguousarray(values).tobytes()
        else:
            kind, raw = "text", json.dumps([str(value) for value in values]).encode()
        digest.update(json.dumps([name, kind, len(values), len(raw)]).encode() + raw)
    return digest.hexdigest().encode()


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
