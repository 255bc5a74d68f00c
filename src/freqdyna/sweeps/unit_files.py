"""The files of finished units, which are trainings of one block of seeds each."""

import warnings
from dataclasses import replace

import numpy as np

from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.results.record import Record
from freqdyna.results.record_files import DamagedArraysError, decode_record, encode_record
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import SweepUnit


def store(storage: Storage, unit: SweepUnit, record: Record) -> None:
    """Store a finished unit; the file that marks it as finished is written last."""
    files = encode_record(record)
    storage.write(f"units/{unit.name}.npz", files.arrays)
    storage.write(f"units/{unit.name}.parquet", files.table)
    for leftover in ("running/{}.json", "failed/{}.json"):
        storage.remove(leftover.format(unit.name))


def load(storage: Storage, unit: SweepUnit) -> Record:
    """Load a stored unit; if its parameters are missing or damaged, it is loaded without them.

    Raises:
        FreqdynaError: If the file is missing or damaged, or contains another unit.

    """
    path = f"{storage.location}/units/{unit.name}.parquet"
    try:
        table = storage.read(f"units/{unit.name}.parquet")
        if table is None:
            raise FreqdynaError(f"{path} is missing: the unit is not finished")
        try:
            record = decode_record(table, storage.read(f"units/{unit.name}.npz"))
        except DamagedArraysError as error:
            warnings.warn(
                f"{storage.location}/units/{unit.name}.npz is damaged ({error}); its parameters "
                "are left out",
                stacklevel=2,
            )
            record = decode_record(table, None)
    except DamagedFileError as error:
        raise FreqdynaError(f"{path} is damaged ({error}); remove it to recompute it") from None
    if not unit.config.may_become(record.config):
        raise FreqdynaError(f"{path} contains another unit, with {record.config}; remove it")
    return record


def merged(blocks: list[Record]) -> Record:
    """Combine blocks of seeds into one record, with parameters if all blocks have them."""
    first = blocks[0]
    seeds = np.concatenate([block.seeds for block in blocks])
    names = [name for name in first.metrics if all(name in block.metrics for block in blocks)]
    alike = len({(block.parameters.shape[1], block.layer_sizes) for block in blocks}) == 1
    parameters = [block.parameters[:, : None if alike else 0] for block in blocks]
    stopped = [block.provenance.get("ended") for block in blocks]
    ended = {seed: why for one in stopped if isinstance(one, dict) for seed, why in one.items()}
    return replace(
        first,
        provenance=first.provenance | ({"ended": ended} if ended else {}),
        config=replace(first.config, seeds=len(seeds)),
        seeds=seeds,
        metrics={name: np.concatenate([block.metrics[name] for block in blocks]) for name in names},
        parameters=np.concatenate(parameters),
        layer_sizes=first.layer_sizes if alike else (),
    )
