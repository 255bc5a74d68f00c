"""The run folder: configuration, provenance, metrics, parameters and checkpoints of one run.

config.toml         every setting of the run
provenance.json     versions, commit, machine, date, command
metrics.parquet     one row per seed and evaluation; metrics.npz if pyarrow is missing
parameters.npz      the trained parameters, one row per seed
snapshot-*.npz      snapshots after `snapshot_steps`
checkpoint-*.npz    the most recent states, for `freqdyna resume`
"""

import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.config import VERSION, Config, history
from freqdyna.core.arrays import DamagedFileError, load_arrays, save_arrays
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import write_atomically
from freqdyna.core.tables import find_table, write_table
from freqdyna.results.record import Record
from freqdyna.results.record_files import DamagedArraysError, decode_record, encode_record

CONFIG, PROVENANCE = "config.toml", "provenance.json"
METRICS, PARAMETERS = "metrics.parquet", "parameters.npz"


def create(folder: str | os.PathLike[str], config: Config) -> Path:
    """Create a new run folder with its configuration; the folder must be new or empty."""
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FreqdynaError(
            f"out is {str(path)!r}, which exists; choose a new folder, "
            f"or resume a run with: freqdyna resume {path}"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be created: {error}") from None
    config.save(path / CONFIG)
    return path


def free_name(config: Config, parent: Path = Path("runs")) -> Path:
    """A folder name in `parent` that is not taken yet."""
    name = f"{config.algorithm}-{config.env}"
    names = [name, *(f"{name}-{i}" for i in range(2, 10_000))]
    return next(parent / n for n in names if not (parent / n).exists())


def read_config(folder: Path) -> Config:
    """The configuration of a run folder, which must be complete.

    Settings that did not exist when the run was started have the values that preserve its
    behaviour.
    """
    if not (folder / CONFIG).is_file():
        raise FreqdynaError(f"{str(folder)!r} is not a run folder: it has no {CONFIG}")
    config = Config.load(folder / CONFIG, _version_of(read_provenance(folder)))
    if not config.is_complete:
        raise FreqdynaError(f"{folder / CONFIG} is not complete: settings are missing")
    return config


def provenance(devices: list[Any], **facts: Any) -> dict[str, Any]:
    """The provenance of a run: command, date, commit, versions and machine.

    Args:
        devices: The JAX devices that it uses.
        **facts: Further entries, in types that JSON can represent.

    """
    packages = ("jax", "jaxlib", "equinox", "optax", "numpy", "gymnasium")
    versions = {"python": platform.python_version(), "freqdyna": VERSION}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "command": " ".join([_program(), *sys.argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "versions": versions,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "device_kind": devices[0].device_kind,
        "devices": len(devices),
        **facts,
    }


def read_provenance(folder: Path) -> dict[str, Any]:
    """The provenance of a run folder; empty if it cannot be read."""
    try:
        facts = json.loads((folder / PROVENANCE).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def write_provenance(folder: Path, facts: dict[str, Any]) -> None:
    """Write the provenance as JSON."""
    text = json.dumps(facts, indent=2) + "\n"
    write_atomically(folder / PROVENANCE, lambda file: file.write(text.encode()))


def write_record(folder: Path, record: Record) -> None:
    """Write a training, except for its configuration, which `create` wrote."""
    write_provenance(folder, record.provenance)
    files = encode_record(replace(record, snapshots={}))  # snapshots have separate files
    write_atomically(folder / PARAMETERS, lambda file: file.write(files.arrays))
    write_table(folder / METRICS, files.table)
    for step, arrays in record.snapshots.items():
        if not snapshot_path(folder, step).exists():
            write_snapshot(folder, step, arrays)


def snapshot_path(folder: Path, step: int) -> Path:
    """The path of the snapshot after `step` steps."""
    return folder / f"snapshot-{step:010d}.npz"


def write_snapshot(folder: Path, step: int, arrays: dict[str, np.ndarray]) -> None:
    """Write one snapshot."""
    save_arrays(snapshot_path(folder, step), arrays, {"step": step})


def read_snapshots(folder: Path) -> dict[int, dict[str, np.ndarray]]:
    """The snapshots of a run folder by step, in order."""
    snapshots = [load_arrays(path) for path in sorted(folder.glob("snapshot-*.npz"))]
    return {note["step"]: arrays for arrays, note in snapshots}


def read_record(folder: Path) -> Record:
    """The training in a run folder, which may be unfinished."""
    config = read_config(folder)
    metrics = find_table(folder / METRICS)
    if metrics is None:
        raise FreqdynaError(
            f"{str(folder)!r} has no {METRICS} yet; finish the run with: freqdyna resume {folder}"
        )
    path = folder / PARAMETERS
    arrays = path.read_bytes() if path.is_file() else None
    try:
        facts = read_provenance(folder)
        record = decode_record(metrics.read_bytes(), arrays, config=config, provenance=facts)
    except DamagedFileError as error:
        damaged = path if isinstance(error, DamagedArraysError) else metrics
        raise FreqdynaError(f"{damaged} is damaged ({error})") from None
    return replace(record, snapshots=read_snapshots(folder))


def has_results(folder: Path) -> bool:
    """Whether the folder contains metrics."""
    return find_table(folder / METRICS) is not None


def _version_of(provenance: dict[str, Any]) -> str:
    """The version that wrote config.toml: the one that started the run, not one that resumed it."""
    while isinstance(provenance.get("continues"), dict):
        provenance = provenance["continues"]
    versions = provenance.get("versions")
    version = versions.get("freqdyna") if isinstance(versions, dict) else None
    return version if isinstance(version, str) else history.FIRST


def _program() -> str:
    """The name of the program; "freqdyna" also if it was started as a module."""
    name = Path(sys.argv[0]).name
    return "freqdyna" if name == "__main__.py" else name


def _commit() -> str | None:
    """The commit of the source tree, with `-dirty` if it was changed; None if installed."""
    where = Path(__file__).parent
    git = ["git", "-C", str(where)]
    try:
        tracked = subprocess.run(
            [*git, "ls-files", "--error-unmatch", __file__], capture_output=True, check=False
        )
        if tracked.returncode:
            return None
        described = subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()
