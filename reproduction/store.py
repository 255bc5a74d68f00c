"""Stored units: files that include their settings and provenance."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import read_bytes, remove_partial_files, write_atomically
from freqdyna.core.tables import Columns, decode_table, encode_table, find_table, write_table
from freqdyna.results.record import Record
from freqdyna.results.record_files import DamagedArraysError, decode_record, encode_record
from reproduction.base import Stored, Unit

Condition = Literal["stored", "missing", "other", "damaged"]
"""The state of a unit's file; "other" means that it was computed with other settings."""
TRAININGS = "trainings"
"""The folder of the units that are trainings, which experiments share."""


def unit_path(folder: Path, unit: Unit) -> Path:
    """The path of the table of a unit.

    Args:
        folder: The folder of its experiment.
        unit: The unit.

    Returns:
        A path that ends in `.parquet`; if pyarrow is missing, the file ends in `.npz`.

    """
    home = folder.parent / unit.folder if unit.folder else folder
    return home / f"{unit.name}.parquet"


def write(folder: Path, unit: Unit, outcome: Columns | Record, provenance: dict[str, Any]) -> None:
    """Store the result of a unit; the file that marks it as finished is written last.

    Args:
        folder: The folder of its experiment.
        unit: The unit.
        outcome: A training, or the columns of a table.
        provenance: Where and when it was computed.

    """
    path = unit_path(folder, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(outcome, Record):
        record = replace(outcome, provenance=provenance)
        files = encode_record(record, unit_settings=unit.settings)
        if record.parameters.size or record.snapshots:
            write_atomically(_arrays_path(path), lambda file: file.write(files.arrays))
        write_table(path, files.table)
    else:
        facts = {"settings": unit.settings, "provenance": provenance}
        write_table(path, encode_table(outcome, facts))


def remove_partial_files_of(folder: Path, unit: Unit) -> None:
    """Remove what a process that was killed while it stored this unit left behind."""
    path = unit_path(folder, unit)
    for file in (path, path.with_suffix(".npz"), _arrays_path(path)):
        remove_partial_files(path.parent, file.name)


def read(folder: Path, unit: Unit) -> Stored | None:
    """Read a stored unit; None if it does not exist.

    Args:
        folder: The folder of its experiment.
        unit: The unit.

    Raises:
        FreqdynaError: If the file is damaged or was computed with other settings.

    """
    path = find_table(unit_path(folder, unit))
    if path is None:
        return None
    try:
        stored = _decode(path, unit)
    except DamagedFileError as error:
        wrong = _arrays_path(path) if isinstance(error, DamagedArraysError) else path
        raise FreqdynaError(
            f"{wrong} is damaged ({error}); remove {path.name} to recompute it"
        ) from None
    if unit.is_made_with(stored.settings):
        return replace(stored, settings=unit.settings)
    raise FreqdynaError(
        f"{path} was computed with other settings, {stored.settings}; "
        "choose another folder with --out, or remove it"
    )


def condition(folder: Path, unit: Unit) -> Condition:
    """The state of the unit's file."""
    path = find_table(unit_path(folder, unit))
    if path is None:
        return "missing"
    try:
        stored = _decode(path, unit)
    except DamagedFileError:
        return "damaged"
    return "stored" if unit.is_made_with(stored.settings) else "other"


def _decode(path: Path, unit: Unit) -> Stored:
    contents, arrays = read_bytes(path), _arrays_path(path)
    columns, facts = decode_table(contents)
    try:
        # A training has its complete configuration in "settings"; in version 0.1 it was the unit's.
        settings = dict(facts.get("unit_settings", facts["settings"]))
        provenance = dict(facts["provenance"])
    except (LookupError, TypeError, ValueError) as error:
        raise DamagedFileError(f"it lacks {error}") from None
    record = None
    if unit.folder == TRAININGS:
        record = decode_record(contents, read_bytes(arrays) if arrays.exists() else None)
    return Stored(columns, settings, provenance, record)


def _arrays_path(path: Path) -> Path:
    """The path of the parameters and states of a training, given that of its table."""
    return path.with_suffix(".arrays.npz")
