"""The run folder: configuration, provenance, metrics, parameters and checkpoints of one run.

config.toml         every setting of the run
provenance.json     versions, commit, machine, date, command
metrics.parquet     one row for each seed and evaluation; metrics.npz where pyarrow is missing
parameters.npz      the trained parameters, one row a seed
snapshot-*.npz      what the run was asked to record on its way
checkpoint-*.npz    the newest states, for `freqdyna resume`
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
    """Make a new run folder with its configuration; a folder with anything in it is refused."""
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FreqdynaError(
            f"out is {str(path)!r}, which exists; give a new folder, "
            f"or continue a run with: freqdyna resume {path}"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be made: {error}") from None
    config.save(path / CONFIG)
    return path


def free_name(config: Config, parent: Path = Path("runs")) -> Path:
    """A folder name under `parent` that is not taken yet."""
    name = f"{config.algorithm}-{config.env}"
    names = [name, *(f"{name}-{i}" for i in range(2, 10_000))]
    return next(parent / n for n in names if not (parent / n).exists())


def read_config(folder: Path) -> Config:
    """The configuration of a run folder, which must be complete.

    Settings that did not exist when the run began do what the version that began it did.
    """
    if not (folder / CONFIG).is_file():
        raise FreqdynaError(f"{str(folder)!r} is not a run folder: it has no {CONFIG}")
    config = Config.load(folder / CONFIG, _version_of(read_provenance(folder)))
    if not config.is_complete:
        raise FreqdynaError(f"{folder / CONFIG} is not complete: settings are missing")
    return config


def provenance(devices: list[Any], **facts: Any) -> dict[str, Any]:
    """Where and with what a run is made, and further facts."""
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
    """The facts that `write_provenance` wrote; none if they cannot be read."""
    try:
        facts = json.loads((folder / PROVENANCE).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def write_provenance(folder: Path, facts: dict[str, Any]) -> None:
    """Write the facts as JSON."""
    text = json.dumps(facts, indent=2) + "\n"
    write_atomically(folder / PROVENANCE, lambda file: file.write(text.encode()))


def write_record(folder: Path, record: Record) -> None:
    """Write all of a training but its configuration, which `create` wrote."""
    write_provenance(folder, record.provenance)
    files = encode_record(replace(record, snapshots={}))  # they have files of their own
    write_atomically(folder / PARAMETERS, lambda file: file.write(files.arrays))
    write_table(folder / METRICS, files.table)
    for step, arrays in record.snapshots.items():
        if not snapshot_path(folder, step).exists():
            write_snapshot(folder, step, arrays)


def snapshot_path(folder: Path, step: int) -> Path:
    """Where the snapshot after `step` steps goes."""
    return folder / f"snapshot-{step:010d}.npz"


def write_snapshot(folder: Path, step: int, arrays: dict[str, np.ndarray]) -> None:
    """Write one snapshot."""
    save_arrays(snapshot_path(folder, step), arrays, {"step": step})


def read_snapshots(folder: Path) -> dict[int, dict[str, np.ndarray]]:
    """The snapshots of a run folder by their step, in order."""
    snapshots = [load_arrays(path) for path in sorted(folder.glob("snapshot-*.npz"))]
    return {note["step"]: arrays for arrays, note in snapshots}


def read_record(folder: Path) -> Record:
    """The training in a run folder, as far as it got."""
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
    """Whether metrics were written."""
    return find_table(folder / METRICS) is not None


def _version_of(provenance: dict[str, Any]) -> str:
    """The version that wrote config.toml: the one that began the run, not those that resumed it."""
    while isinstance(provenance.get("continues"), dict):
        provenance = provenance["continues"]
    versions = provenance.get("versions")
    version = versions.get("freqdyna") if isinstance(versions, dict) else None
    return version if isinstance(version, str) else history.FIRST


def _program() -> str:
    """What was started: the command, also where it was started as a module."""
    name = Path(sys.argv[0]).name
    return "freqdyna" if name == "__main__.py" else name


def _commit() -> str | None:
    """The commit of the source tree that runs, `-dirty` if it was changed; None if installed."""
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
