"""The run folder: configuration, provenance, metrics, parameters and checkpoints of one run.

config.toml         every setting of the run
provenance.json     versions, commit, machine, date, command
metrics.parquet     one row per seed and evaluation; metrics.npz if pyarrow is missing
parameters.npz      the trained parameters, one row per seed
snapshot-*.npz      snapshots after `snapshot_steps`
checkpoint-*.npz    the most recent states, for `freqdyna resume`
damaged-*           files that could not be read
lock.json           the process that trains the run; .lock is the lock of the folder
import.json         instead of config.toml: the curves are imported, see `freqdyna.results.imported`

Every file has a checksum, which is compared when it is read; those of version 0.1 have none.
"""

import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from freqdyna.config import Config
from freqdyna.core import checksums
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import PARTIAL, read_bytes, remove_partial_files, write_atomically
from freqdyna.core.lock import LOCK, OWNER, locked_folder
from freqdyna.core.tables import find_table, write_table
from freqdyna.results.record import Record
from freqdyna.results.record_files import (
    RUN,
    DamagedArraysError,
    decode_record,
    encode_record,
    run_id,
)
from freqdyna.results.snapshot_files import read_snapshots, write_snapshots

CONFIG, PROVENANCE = "config.toml", "provenance.json"
METRICS, PARAMETERS = "metrics.parquet", "parameters.npz"
IMPORT = "import.json"
"""The file that marks a folder of imported curves."""
REWRITING = ".rewriting"
"""A folder with the new files of a run that is extended, until they have replaced the old ones."""


@contextmanager
def new_folder(folder: str | os.PathLike[str], config: Config) -> Iterator[Path]:
    """Create a new run folder with its configuration, and hold its lock.

    Args:
        folder: The folder, which must not exist or be empty.
        config: The configuration of the run.

    Yields:
        The path of the folder.

    """
    with locked_new_folder(folder) as path:
        text = checksums.toml_with_checksum(config.to_toml()).encode()
        try:
            write_atomically(path / CONFIG, lambda file: file.write(text))
        except OSError as error:
            raise FreqdynaError(f"out is {str(path)!r}, which cannot be written: {error}") from None
        yield path


@contextmanager
def locked_new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Create a new folder, which must not exist or be empty, and hold its lock.

    Yields:
        The path of the folder.

    """
    path = Path(folder)
    try:
        _check_new(path)
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be created: {error}") from None
    with locked_folder(path):
        _check_new(path)  # another process may have created it meanwhile
        remove_partial_files(path)
        yield path


@contextmanager
def opened_folder(folder: Path) -> Iterator[list[str]]:
    """Hold the lock of a run folder that exists, and remove partially written files.

    Yields:
        Messages for the user.

    """
    with locked_folder(folder, "folder") as ended:
        remove_partial_files(folder)
        yield (
            [
                f"the {ended} that worked on this run ended without finishing; continuing from its "
                "last checkpoint"
            ]
            if ended
            else []
        )


def _check_new(path: Path) -> None:
    """Raise an error unless the folder is new or empty, except for what a killed process left."""
    if path.is_dir():
        left = {OWNER, LOCK, *(file.name for file in path.glob(PARTIAL))}
        taken = any(file.name not in left for file in path.iterdir())
    else:
        taken = path.exists()
    if taken:
        raise FreqdynaError(
            f"out is {str(path)!r}, which exists; choose a new folder, "
            f"or resume a run with: freqdyna resume {path}"
        )


def clear(folder: Path) -> None:
    """Remove everything from a new folder whose lock the caller holds, except for the lock."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in (OWNER, LOCK):
            path.unlink(missing_ok=True)


def is_run_folder(folder: Path) -> bool:
    """Whether a folder has a run, which may be unfinished, or imported curves."""
    return any((folder / name).is_file() for name in (CONFIG, IMPORT))


def free_name(config: Config, parent: Path = Path("runs")) -> Path:
    """A folder name in `parent` that is not taken yet."""
    name = "-".join(filter(None, (config.algorithm, config.search_control, config.env)))
    name = re.sub(r"[^\w.-]+", "-", name).strip("-")  # such as the colon of module:Class
    names = [name, *(f"{name}-{i}" for i in range(2, 10_000))]
    return next(parent / n for n in names if not (parent / n).exists())


def read_config(folder: Path) -> Config:
    """The configuration of a run folder, which must be complete."""
    if not (folder / CONFIG).is_file():
        if (folder / IMPORT).is_file():
            raise FreqdynaError(
                f"{str(folder)!r} has imported curves; only runs of freqdyna can be resumed"
            )
        raise FreqdynaError(f"{str(folder)!r} is not a run folder: it has no {CONFIG}")
    try:
        has_checksums(folder)
    except DamagedFileError:
        raise FreqdynaError(
            f"{folder / CONFIG} was changed since the run was started: its checksum does not "
            "match; undo the change, and for other settings start a new run with: freqdyna train "
            "--config FILE"
        ) from None
    config = Config.load(folder / CONFIG)
    if not config.is_complete:
        raise FreqdynaError(f"{folder / CONFIG} is not complete: settings are missing")
    return config


def has_checksums(folder: Path) -> bool:
    """Whether the files of a folder have checksums; version 0.1 did not write them.

    Raises:
        DamagedFileError: If the checksum of its configuration does not match.

    """
    if not (folder / CONFIG).is_file():  # the scratch folder of a unit
        return False
    return checksums.check_toml(read_bytes(folder / CONFIG).decode(errors="replace"))


def read_provenance(folder: Path, config: Config | None = None) -> dict[str, Any]:
    """The provenance of a run folder; empty if there is none.

    Args:
        folder: The run folder.
        config: Its configuration; if given, the provenance of another run is refused.

    """
    path = folder / PROVENANCE
    try:
        facts = checksums.json_without_checksum(read_bytes(path))
        run = facts.pop(RUN, None)
        if config is not None and run not in (None, run_id(config)):
            raise DamagedFileError("it belongs to another run")
    except FileNotFoundError:
        return {}
    except DamagedFileError as error:
        raise FreqdynaError(
            f"{path} is damaged ({error}); restore it, or remove it to continue without it"
        ) from None
    return facts


def write_provenance(folder: Path, config: Config, facts: dict[str, Any]) -> None:
    """Write the provenance of a run with this configuration as JSON."""
    text = checksums.json_with_checksum(facts | {RUN: run_id(config)})
    write_atomically(folder / PROVENANCE, lambda file: file.write(text.encode()))


def write_record(folder: Path, record: Record) -> None:
    """Write a training, except for its configuration, which `new_folder` wrote."""
    write_snapshots(folder, record.config, record.snapshots)
    write_provenance(folder, record.config, record.provenance)
    files = encode_record(replace(record, snapshots={}))  # snapshots have separate files
    write_atomically(folder / PARAMETERS, lambda file: file.write(files.arrays))
    write_table(folder / METRICS, files.table)


def read_record(folder: Path) -> Record:
    """The training in a run folder, which may be unfinished; damaged snapshots are left out.

    The folder need not be locked: a run in progress replaces its files atomically.
    """
    _require_rewritten(folder)
    try:
        return _read_record(folder)
    except FileNotFoundError as error:
        raise FreqdynaError(f"{error.filename} was removed while it was read; try again") from None
    except FreqdynaError:
        _require_rewritten(folder)  # files of two lengths of the run
        raise


def _require_rewritten(folder: Path) -> None:
    """Raise an error if some files of a run that is extended may not be replaced yet."""
    if (folder / REWRITING).is_dir():
        raise FreqdynaError(
            f"extending the run in {str(folder)!r} was interrupted while its files were replaced; "
            f"complete it with: freqdyna resume {folder}"
        )


def _read_record(folder: Path) -> Record:
    config = read_config(folder)
    metrics = find_table(folder / METRICS)
    if metrics is None:
        raise FreqdynaError(
            f"{str(folder)!r} has no {METRICS} yet; finish the run with: freqdyna resume {folder}"
        )
    path, facts = folder / PARAMETERS, read_provenance(folder, config)
    try:
        table = read_bytes(metrics)
        try:
            arrays = read_bytes(path) if path.exists() else None
        except DamagedFileError as error:
            raise DamagedArraysError(str(error)) from None
        record = decode_record(
            table, arrays, config=config, provenance=facts, checksums=has_checksums(folder)
        )
    except DamagedFileError as error:
        wrong = path if isinstance(error, DamagedArraysError) else metrics
        raise FreqdynaError(
            f"{wrong} is damaged ({error}); restore it, or write it again with: "
            f"freqdyna resume {folder}"
        ) from None
    snapshots, damaged = read_snapshots(folder, config, len(record.seeds), has_checksums(folder))
    for reason in damaged.values():
        warnings.warn(f"{reason}; it is left out", stacklevel=3)
    return replace(record, snapshots=snapshots)


def has_results(folder: Path) -> bool:
    """Whether the folder contains metrics."""
    return find_table(folder / METRICS) is not None
