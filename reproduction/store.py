"""Stored results: one Parquet file per part, with the settings of its units as columns.

The rows of a unit follow one another. The columns `settings.NAME` and `provenance` have one value
for each unit; a column that a unit does not have is null in its rows. A training that several parts
use is stored with one of them, and found by its settings in any file of the folder.
"""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import decode_arrow_table, encode_table, write_atomically
from freqdyna.results.result import Result
from reproduction.study import Columns, Stored, Unit, training_of

_SETTING = "settings."
Key = frozenset[tuple[str, Any]]
"""The settings that are not None: what identifies a unit."""


def find(folder: Path, unit: Unit) -> Stored | None:
    """The stored unit of these settings; None if there is none in the folder."""
    paths = sorted(folder.glob("*.parquet"))
    return next(filter(None, (find_in(path, unit) for path in paths)), None)


def find_in(path: Path, unit: Unit) -> Stored | None:
    """The stored unit of these settings; None if it is not in this file."""
    if not path.exists():
        return None
    wanted, units = _key(_settings(unit)), _read(path, path.stat().st_mtime_ns)
    return next((Stored(unit, *one[2:]) for one in units.values() if one[0] == wanted), None)


def write(path: Path, units: list[Stored]) -> None:
    """Write the file of a part; it replaces an earlier one as a whole."""
    settings = [_settings(one.unit) for one in units]
    lengths = [len(next(iter(one.columns.values()))) for one in units]
    table = {"unit": _repeated([one.unit.name for one in units], lengths)}
    for name in dict.fromkeys(name for of_one in settings for name in of_one if name != "unit"):
        table[_SETTING + name] = _repeated([of_one.get(name) for of_one in settings], lengths)
    table["provenance"] = _repeated([json.dumps(one.provenance) for one in units], lengths)
    for name in dict.fromkeys(name for one in units for name in one.columns):
        arrays = [None if name not in one.columns else _array(one.columns[name]) for one in units]
        kind = next(array.type for array in arrays if array is not None)
        table[name] = pa.chunked_array(
            [
                pa.nulls(length, kind) if array is None else array.cast(kind)
                for array, length in zip(arrays, lengths, strict=True)
            ]
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, encode_table(table))


def _settings(unit: Unit) -> dict[str, Any]:
    """What identifies a unit: all settings of a training, or those of a table and its name."""
    if unit.table is None:
        return {name: _plain(value) for name, value in unit.config.flat().items()}
    return {"unit": unit.name, "table": json.dumps(unit.settings, ensure_ascii=False)}


def _key(settings: dict[str, Any]) -> Key:
    return frozenset((name, value) for name, value in settings.items() if value is not None)


def _plain(value: Any) -> Any:
    """A setting as a cell: itself, or as JSON if it is not a single value."""
    single = value is None or isinstance(value, bool | int | float | str)
    return value if single else json.dumps(value, ensure_ascii=False)


def _repeated(values: list[Any], lengths: list[int]) -> pa.Array:
    """A column with one value for each unit."""
    cells = pa.array(values)
    cells = cells if pa.types.is_null(cells.type) else cells.dictionary_encode()
    return cells.take(pa.array(np.repeat(np.arange(len(values)), lengths)))


def _array(values: np.ndarray) -> pa.Array:
    """A column of a unit; objects are lists of numbers, or texts."""
    if values.dtype == object and not isinstance(values[0], str):
        return pa.array(list(values), pa.list_(pa.float16()))
    return pa.array(values)


@cache
def _read(path: Path, _changed: int) -> dict[str, tuple[Key, dict[str, Any], Columns, Any]]:
    """Key, settings, columns and provenance of all units of a file by name; it is read once."""
    try:
        table = decode_arrow_table(path.read_bytes()).combine_chunks()
    except (OSError, DamagedFileError) as error:
        raise FreqdynaError(
            f"{path} is damaged ({error}); restore it, or remove it to compute it again"
        ) from None
    names = table["unit"].combine_chunks().dictionary_encode().indices.to_numpy()
    starts = [0, *(np.flatnonzero(np.diff(names)) + 1).tolist(), len(names)]
    shared = [name for name in table.column_names if name.startswith(_SETTING)]
    others = [n for n in table.column_names if n not in ("unit", "provenance", *shared)]
    units = {}
    for start, end in pairwise(starts):
        first, rows = table.slice(start, 1), table.select(others).slice(start, end - start)
        settings = {name.removeprefix(_SETTING): first[name][0].as_py() for name in shared}
        name = first["unit"][0].as_py()
        key = _key(settings | {"unit": name} if settings.get("table") else settings)
        columns = {n: rows[n].to_numpy() for n in others if rows[n].null_count < len(rows)}
        units[name] = key, settings, columns, json.loads(first["provenance"][0].as_py())
    return units


def runs(path: Path | str) -> dict[str, Result]:
    """The trainings of a file, as results for `freqdyna.compare` and plots, by name."""
    results, units = {}, _read(Path(path), Path(path).stat().st_mtime_ns)
    for name, (_, settings, columns, provenance) in units.items():
        stated = {n: _setting(v) for n, v in settings.items() if v is not None}
        results[name] = training_of(Stored(Unit("", stated), columns, provenance))
    return results


def _setting(value: Any) -> Any:
    """A setting from its cell."""
    is_list = isinstance(value, str) and value.startswith("[")
    return tuple(json.loads(value)) if is_list else value
