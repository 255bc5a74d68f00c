"""The snapshots of a run folder, one file for each."""

from contextlib import suppress
from pathlib import Path

import numpy as np

from freqdyna.config import Config
from freqdyna.core.arrays import load_arrays, save_arrays
from freqdyna.core.errors import DamagedFileError
from freqdyna.results.record_files import check_run, check_snapshot, note_of

Snapshots = dict[int, dict[str, np.ndarray]]
"""The arrays of each snapshot, by step."""


def write_snapshots(folder: Path, config: Config, snapshots: Snapshots) -> None:
    """Write the snapshots that are not stored yet.

    Args:
        folder: The run folder.
        config: The configuration of the run.
        snapshots: The snapshots by step.

    """
    for step, arrays in snapshots.items():
        path = _snapshot_path(folder, step)
        if not path.exists():
            save_arrays(path, arrays, {"step": step} | note_of(config, arrays))


def read_snapshots(
    folder: Path, config: Config, seeds: int, checksums: bool
) -> tuple[Snapshots, dict[Path, DamagedFileError]]:
    """The snapshots of a run folder.

    Args:
        folder: The run folder.
        config: The configuration of the run.
        seeds: The number of seeds that the snapshots must have.
        checksums: Whether the files of the run have checksums.

    Returns:
        The snapshots by step, in order, and what is wrong with each file that is damaged.

    """
    snapshots: Snapshots = {}
    damaged = {}
    for path in sorted(folder.glob("snapshot-*.npz")):
        try:
            with suppress(FileNotFoundError):  # a run in progress may have set it aside
                step, arrays = _read_snapshot(path, config, seeds, checksums)
                snapshots[step] = arrays
        except DamagedFileError as error:
            damaged[path] = error
    return snapshots, damaged


def _snapshot_path(folder: Path, step: int) -> Path:
    return folder / f"snapshot-{step:010d}.npz"


def _read_snapshot(
    path: Path, config: Config, seeds: int, checksums: bool
) -> tuple[int, dict[str, np.ndarray]]:
    arrays, note = load_arrays(path)
    step = note.get("step")
    try:
        if type(step) is not int or path != _snapshot_path(path.parent, step):
            raise DamagedFileError("its step is not the one in its name")
        check_run(arrays, note, config, checksums)
        check_snapshot(arrays, step, config, seeds)
    except DamagedFileError as error:
        raise DamagedFileError(f"{path} is damaged ({error})") from None
    return step, arrays
