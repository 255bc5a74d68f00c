"""The files of a training, for run folders, sweeps and experiments.

The table has one row per seed and evaluation, and the settings and provenance in its metadata; the
arrays are the trained parameters, the layer sizes and the snapshots. Files may come from untrusted
sources: nothing in them is executed, and content that does not match the settings is rejected.
"""

import hashlib
import itertools
import json
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from freqdyna.config import Config
from freqdyna.core.arrays import decode_arrays, encode_arrays, is_numeric
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.tables import Columns, decode_table, encode_table
from freqdyna.results.complete_seeds import mark_diverged
from freqdyna.results.record import Record

_SNAPSHOT = "snapshot"
"""Arrays of snapshots are named snapshot/STEP/NAME."""
RUN = "run"
"""The key of `run_id` in the notes of arrays; version 0.1 did not write it."""
ARRAYS = "arrays"
"""The key of the types and shapes of all arrays in their notes."""
NO_CHECKSUM = "its checksum is missing"


class DamagedArraysError(DamagedFileError):
    """The arrays of a training cannot be read, but its table can."""


class RecordFiles(NamedTuple):
    """The contents of a training's two files."""

    table: bytes
    """Parquet, or `.npz` if pyarrow is missing."""
    arrays: bytes
    """`.npz`."""


def encode_record(record: Record, **facts: Any) -> RecordFiles:
    """Encode a training.

    Args:
        record: The training, which may be unfinished.
        **facts: Additional metadata of the table, in types that JSON can represent.

    Returns:
        The contents of its files.

    """
    evaluations = len(record.steps)
    columns: Columns = {
        "seed": np.repeat(record.seeds.astype(np.int64), evaluations),
        "step": np.tile(record.steps.astype(np.int64), len(record.seeds)),
    }
    columns |= {name: values.reshape(-1) for name, values in record.metrics.items()}
    facts |= {"settings": asdict(record.config), "provenance": record.provenance}
    arrays = {"parameters": record.parameters, "layer_sizes": np.array(record.layer_sizes, int)}
    for step, snapshot in record.snapshots.items():
        arrays |= {f"{_SNAPSHOT}/{step}/{name}": values for name, values in snapshot.items()}
    note = note_of(record.config, arrays)
    return RecordFiles(encode_table(columns, facts), encode_arrays(arrays, note))


def note_of(config: Config, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """What the note of a run's arrays says, for `check_run`: which run, and which arrays."""
    return {RUN: run_id(config), ARRAYS: _types_and_shapes(arrays)}


def _types_and_shapes(arrays: dict[str, np.ndarray]) -> dict[str, str]:
    return {name: f"{values.dtype}{values.shape}" for name, values in sorted(arrays.items())}


def run_id(config: Config) -> str:
    """What files of one run have in common: a digest of its settings."""
    text = json.dumps(asdict(config), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_run(
    arrays: dict[str, np.ndarray], note: dict[str, Any], config: Config, checksums: bool
) -> None:
    """Raise DamagedFileError if arrays are not those of their note, or belong to another run.

    Args:
        arrays: The arrays.
        note: The note of the arrays; that of version 0.1 does not list them.
        config: The configuration of the run.
        checksums: Whether the files must have checksums, which version 0.1 did not write.

    """
    if checksums and RUN not in note:
        raise DamagedFileError(NO_CHECKSUM)
    if note.get(RUN, run_id(config)) != run_id(config):
        raise DamagedFileError("it belongs to another run")
    found = _types_and_shapes(arrays)
    if note.get(ARRAYS, found) != found:
        raise DamagedFileError("its arrays are not those that its note lists")


def check_snapshot(arrays: dict[str, np.ndarray], step: int, config: Config, seeds: int) -> None:
    """Raise DamagedFileError if arrays cannot be the snapshot after `step` steps of a training."""
    if step not in (*config.snapshot_steps, config.steps):
        raise DamagedFileError(f"its step, {step}, is not one of {list(config.snapshot_steps)}")
    for name, values in arrays.items():
        if not is_numeric(values) or values.ndim < 1 or len(values) != seeds:
            raise DamagedFileError(
                f"its array {name!r} has shape {values.shape} and type {values.dtype} "
                f"for {seeds} seeds"
            )


def decode_record(
    table: bytes,
    arrays: bytes | None,
    *,
    config: Config | None = None,
    provenance: dict[str, Any] | None = None,
    checksums: bool = False,
) -> Record:
    """Decode and check a training that this or an earlier version stored.

    Args:
        table: The contents of the table's file.
        arrays: The contents of the arrays' file; None if there are no parameters and snapshots.
        config: The configuration of a training that may be unfinished or lack seeds; None to use
            the one in the table, in which case all seeds and evaluations must be present.
        provenance: The provenance of the training; None to use the one in the table.
        checksums: Whether the files must have checksums, which version 0.1 did not write.

    Returns:
        The training, with rows sorted by seed and step.

    """
    columns, facts = decode_table(table)
    try:
        whole = config is None
        if checksums and "settings" not in facts:
            raise ValueError(NO_CHECKSUM)
        if config is None or "settings" in facts:
            stored = Config.of(dict(facts["settings"]))
            if config not in (None, stored):
                raise ValueError("it has other settings: it belongs to another run")
            config = stored
        provenance = dict(facts["provenance"]) if provenance is None else provenance
        snapshots: dict[int, dict[str, np.ndarray]] = {}
        seeds, steps, metrics = _checked(columns, config, whole)
    except (FreqdynaError, LookupError, TypeError, ValueError) as error:
        raise DamagedFileError(str(error)) from None
    layer_sizes: tuple[int, ...] = ()
    parameters = np.zeros((len(seeds), 0), np.float32)
    if arrays is not None:
        parameters, layer_sizes, snapshots = _decode_arrays(arrays, config, len(seeds), checksums)
    metrics = mark_diverged(metrics, steps, parameters)
    return Record(config, provenance, seeds, steps, metrics, parameters, layer_sizes, snapshots)


def _checked(
    columns: Columns, config: Config, whole: bool
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Seeds, steps and metrics, matched by the columns "seed" and "step"."""
    columns = dict(columns)
    rows, expected = len(columns["seed"]), config.seeds * -(-config.steps // config.eval_every)
    if rows > expected or (whole and rows < expected):
        # Checked first, because the settings may ask for more than fits into memory.
        raise ValueError(f"it has {rows:,} rows, not {expected:,}")
    for name, values in columns.items():
        if values.dtype.kind not in "biuf":
            raise ValueError(f"its column {name!r} is not numeric")
    for name in ("seed", "step"):
        if columns[name].dtype.kind not in "iu":
            raise ValueError(f"its column {name} does not have integers")
    if "return" not in columns:
        raise ValueError("it has no column return")
    seed, step = columns.pop("seed"), columns.pop("step")
    seeds, steps = np.unique(seed), np.unique(step)
    # Only as many as there are: the settings may ask for more than fits into memory.
    evaluated = np.minimum(config.eval_every * np.arange(1, len(steps) + 1), config.steps)
    if not _are_seeds_of(seeds, config, whole):
        raise ValueError("its column seed does not match its settings")
    if not np.array_equal(steps, evaluated) or (whole and steps[-1] != config.steps):
        raise ValueError("its column step does not match its settings")
    order = np.lexsort((step, seed))
    if not (
        np.array_equal(seed[order], np.repeat(seeds, len(steps)))
        and np.array_equal(step[order], np.tile(steps, len(seeds)))
    ):
        raise ValueError("it does not have one row for each seed and evaluation")
    shape = len(seeds), len(steps)
    return seeds, steps, {name: values[order].reshape(shape) for name, values in columns.items()}


def _are_seeds_of(seeds: np.ndarray, config: Config, whole: bool) -> bool:
    """Whether sorted seeds can be those of a training, or of some of its blocks."""
    first, last = config.first_seed, config.first_seed + config.seeds - 1
    if len(seeds) == 0 or len(seeds) > config.seeds or seeds[0] < first:
        return False
    if whole:
        return bool(seeds[0] == first and seeds[-1] == last and len(seeds) == config.seeds)
    # Blocks of a sweep that are not adjacent have later seeds, but then none is missing.
    return bool(seeds[-1] <= last or (seeds[0] == first and len(seeds) == config.seeds))


def _decode_arrays(
    contents: bytes, config: Config, seeds: int, checksums: bool
) -> tuple[np.ndarray, tuple[int, ...], dict[int, dict[str, np.ndarray]]]:
    """Parameters, layer sizes and snapshots by their steps."""
    try:
        arrays, note = decode_arrays(contents)
        parameters = arrays["parameters"]
        # Run folders of version 0.1 have the sizes in a note.
        sizes = tuple(map(int, arrays.get("layer_sizes", note.get("layer_sizes", ()))))
        check_run(arrays, note, config, checksums)
        if parameters.ndim != 2 or len(parameters) != seeds or parameters.dtype.kind != "f":
            raise ValueError(f"parameters have shape {parameters.shape} for {seeds} seeds")
        number = sum((inputs + 1) * outputs for inputs, outputs in itertools.pairwise(sizes))
        if min(sizes, default=1) < 1 or (sizes and parameters.shape[1] not in (0, number)):
            raise ValueError(f"parameters have shape {parameters.shape} for layers of {sizes}")
        snapshots: dict[int, dict[str, np.ndarray]] = {}
        for name, values in arrays.items():
            if name.startswith(f"{_SNAPSHOT}/"):
                _, step, what = name.split("/")
                snapshots.setdefault(int(step), {})[what] = values
        for at, snapshot in snapshots.items():
            check_snapshot(snapshot, at, config, seeds)
    except (DamagedFileError, LookupError, TypeError, ValueError) as error:
        raise DamagedArraysError(str(error)) from None
    return parameters, sizes, dict(sorted(snapshots.items()))
