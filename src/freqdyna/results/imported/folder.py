"""The folder of imported curves, which can be read wherever a run folder can.

import.json         where the curves come from: format, files with digests, date, how it was read
metrics.parquet     one row per seed and step; metrics.npz if pyarrow is missing

There is no config.toml, because the settings of the training are not known.
"""

from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.config import Config
from freqdyna.core import checksums
from freqdyna.core.errors import DamagedFileError, FreqdynaError, RunFailedError
from freqdyna.core.files import read_bytes, write_atomically
from freqdyna.core.tables import Columns, decode_table, encode_table, find_table, write_table
from freqdyna.results.record import IMPORTED, Record
from freqdyna.results.run_folder import IMPORT, METRICS, locked_new_folder

_FACTS = "provenance"


def is_imported(folder: Path) -> bool:
    """Whether a folder has imported curves."""
    return (folder / IMPORT).is_file()


def imported_record(
    seeds: np.ndarray, steps: np.ndarray, returns: np.ndarray, provenance: dict[str, Any]
) -> Record:
    """Imported curves as a training without parameters.

    Its configuration has a name, an environment, seeds and steps; the other settings are not known
    and have no meaning.

    Args:
        seeds: Shape (seeds,).
        steps: Shape (evaluations,).
        returns: Shape (seeds, evaluations).
        provenance: Where they come from; under `IMPORTED`, "name" and "env" name them.

    """
    facts = provenance[IMPORTED]
    config = Config(
        algorithm=f"{facts['name']} (imported)",
        env=facts["env"],
        seeds=len(seeds),
        steps=max(1, int(steps[-1])),
        warmup_steps=0,
    )
    parameters = np.zeros((len(seeds), 0), np.float32)
    return Record(config, provenance, seeds, steps, {"return": returns}, parameters, ())


def write_imported(folder: Path, record: Record) -> None:
    """Write imported curves to a new folder; the file that marks it is written last."""
    columns: Columns = {
        "seed": np.repeat(record.seeds.astype(np.int64), len(record.steps)),
        "step": np.tile(record.steps.astype(np.int64), len(record.seeds)),
        "return": record.returns.astype(np.float64).reshape(-1),
    }
    with locked_new_folder(folder):
        try:
            write_table(folder / METRICS, encode_table(columns, {_FACTS: record.provenance}))
            text = checksums.json_with_checksum(record.provenance).encode()
            write_atomically(folder / IMPORT, lambda file: file.write(text))
        except OSError as error:
            raise RunFailedError(
                f"the curves could not be saved in {str(folder)!r}: {error.strerror or error}; "
                "remove the folder, and save them where there is space and access"
            ) from None


def read_imported(folder: Path) -> Record:
    """The imported curves in a folder."""
    path = folder / IMPORT
    try:
        provenance = checksums.json_without_checksum(read_bytes(path))
        path = find_table(folder / METRICS) or folder / METRICS
        columns, facts = decode_table(read_bytes(path))
        if facts.get(_FACTS) != provenance:
            raise DamagedFileError("it belongs to another import")
        return _checked_record(columns, provenance)
    except FileNotFoundError:
        raise FreqdynaError(f"{path} is missing; import the curves again") from None
    except (DamagedFileError, LookupError, TypeError, ValueError) as error:
        raise FreqdynaError(
            f"{path} is damaged ({error}); restore it, or import the curves again"
        ) from None


def _checked_record(columns: Columns, provenance: dict[str, Any]) -> Record:
    seed, step, returns = (columns[name] for name in ("seed", "step", "return"))
    if {seed.dtype.kind, step.dtype.kind} - set("iu") or returns.dtype.kind != "f":
        raise DamagedFileError("its columns are not numeric")
    seeds, steps = np.unique(seed), np.unique(step)
    if not len(seeds) or not (
        np.array_equal(seed, np.repeat(seeds, len(steps)))
        and np.array_equal(step, np.tile(steps, len(seeds)))
    ):
        raise DamagedFileError("it does not have one row for each seed and step")
    try:
        return imported_record(seeds, steps, returns.reshape(len(seeds), -1), provenance)
    except FreqdynaError as error:
        raise DamagedFileError(str(error)) from None
