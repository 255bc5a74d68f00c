"""Stored units: small Parquet files that carry their own settings and provenance."""

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow
import pyarrow.parquet

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import write_atomically
from freqdyna.experiments.base import Columns, Stored, Unit

Condition = Literal["stored", "missing", "other", "damaged"]
"""Of a unit's file; `other` was made with other settings."""
_FACTS = b"freqdyna"
"""The key of settings and provenance in a file's metadata."""
_DAMAGES = (pyarrow.ArrowException, OSError, TypeError, KeyError, ValueError)
"""What reading a file that is not whole may raise."""


def unit_path(folder: Path, unit: Unit) -> Path:
    """Where a unit of the experiment with that folder is stored."""
    home = folder.parent / unit.folder if unit.folder else folder
    return home / f"{unit.name}.parquet"


def write(folder: Path, unit: Unit, columns: Columns, provenance: dict[str, Any]) -> None:
    """Store a unit; repeated texts and numbers in order take next to no room."""
    table = pyarrow.table({name: _array(column) for name, column in columns.items()})
    facts = json.dumps({"settings": unit.settings, "provenance": provenance}).encode()
    table = table.replace_schema_metadata({_FACTS: facts})

    def put(file: Any) -> None:
        pyarrow.parquet.write_table(table, file, compression="zstd", compression_level=12)

    path = unit_path(folder, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, put)


def read(folder: Path, unit: Unit) -> Stored | None:
    """A stored unit; None if there is none. One made with other settings is refused."""
    path = unit_path(folder, unit)
    if not path.is_file():
        return None
    try:
        table, facts = _load(path)
    except _DAMAGES as error:
        raise FreqdynaError(f"{path} is damaged ({error}); remove it to compute it anew") from None
    if not unit.is_made_with(facts["settings"]):
        raise FreqdynaError(
            f"{path} was computed with other settings, {facts['settings']}; "
            "give another folder with --out, or remove it"
        )
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return Stored(columns, unit.settings, facts["provenance"])


def condition(folder: Path, unit: Unit) -> Condition:
    """Whether the unit is there, of these settings or others, and whole."""
    path = unit_path(folder, unit)
    if not path.is_file():
        return "missing"
    try:
        _, facts = _load(path)
    except _DAMAGES:
        return "damaged"
    return "stored" if unit.is_made_with(facts["settings"]) else "other"


def _load(path: Path) -> tuple[pyarrow.Table, dict[str, Any]]:
    """The table, and the settings and provenance with which it was made."""
    table = pyarrow.parquet.read_table(path)
    facts = json.loads(table.schema.metadata[_FACTS])
    return table, {key: facts[key] for key in ("settings", "provenance")}


def _array(column: np.ndarray) -> Any:
    array = pyarrow.array(column)
    return array.dictionary_encode() if array.type == pyarrow.string() else array
