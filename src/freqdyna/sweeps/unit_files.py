"""Finished units as files: their metrics as a table, their parameters as arrays.

Files may come from anyone: nothing in them executes, and what is not as it must be is refused.
"""

import io
import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from freqdyna.config import Config, history
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.record import Record, evaluation_steps
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import SweepUnit

_FACTS = b"freqdyna"
"""The key of settings and provenance in a file's metadata."""
_DAMAGES = (FreqdynaError, pyarrow.ArrowException, OSError, LookupError, TypeError, ValueError)
"""What reading a file that is not whole, or not ours, may raise."""


def store(storage: Storage, unit: SweepUnit, record: Record) -> None:
    """Store a finished unit, the file that says "finished" last."""
    parameters = io.BytesIO()
    np.savez(parameters, parameters=record.parameters, layer_sizes=np.array(record.layer_sizes))
    storage.write(f"units/{unit.name}.npz", parameters.getvalue())
    rows = {
        "seed": np.repeat(record.seeds.astype(np.int64), len(record.steps)),
        "step": np.tile(record.steps.astype(np.int64), len(record.seeds)),
    }
    rows |= {name: values.reshape(-1) for name, values in record.metrics.items()}
    facts = {"settings": asdict(record.config), "provenance": record.provenance}
    table = pyarrow.table(rows).replace_schema_metadata({_FACTS: json.dumps(facts).encode()})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, compression="zstd")
    storage.write(f"units/{unit.name}.parquet", file.getvalue())
    for leftover in ("running/{}.json", "failed/{}.json"):
        storage.remove(leftover.format(unit.name))


def load(storage: Storage, unit: SweepUnit) -> Record:
    """A stored unit; a file that is damaged, or that another unit's settings made, is refused."""
    contents = storage.read(f"units/{unit.name}.parquet")
    path = f"{storage.location}/units/{unit.name}.parquet"
    if contents is None:
        raise FreqdynaError(f"{path} is missing: the unit is not finished")
    remedy = "remove it to compute it anew"
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(contents))
        facts = json.loads(table.schema.metadata[_FACTS])
        # All settings are there, but for those that the version that wrote them did not have.
        config = Config.of(dict(facts["settings"]), version=history.FIRST)
        provenance = dict(facts["provenance"])
    except (*_DAMAGES, RecursionError) as error:
        raise FreqdynaError(f"{path} is damaged ({error}); {remedy}") from None
    if not unit.config.may_become(config):
        raise FreqdynaError(f"{path} holds another unit, with {config}; remove it")
    try:
        seeds, steps, metrics = _checked(table, config)
    except _DAMAGES as error:
        raise FreqdynaError(f"{path} is damaged ({error}); {remedy}") from None
    parameters, sizes = _load_parameters(storage.read(f"units/{unit.name}.npz"), len(seeds))
    return Record(config, provenance, seeds, steps, metrics, parameters, sizes)


def merged(blocks: list[Record]) -> Record:
    """Blocks of seeds of one combination as one record, with the parameters if all have them."""
    first = blocks[0]
    seeds = np.concatenate([block.seeds for block in blocks])
    names = [name for name in first.metrics if all(name in block.metrics for block in blocks)]
    parameters, sizes = _without_parameters(len(seeds))
    if len({(block.parameters.shape[1], block.layer_sizes) for block in blocks}) == 1:
        parameters = np.concatenate([block.parameters for block in blocks])
        sizes = first.layer_sizes
    return Record(
        config=replace(first.config, seeds=len(seeds)),
        provenance=first.provenance,
        seeds=seeds,
        steps=first.steps,
        metrics={name: np.concatenate([block.metrics[name] for block in blocks]) for name in names},
        parameters=parameters,
        layer_sizes=sizes,
    )


def _checked(table: Any, config: Config) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Seeds, steps and metrics: all evaluations of every seed in turn, as `config` asks for."""
    rows = config.seeds * -(-config.steps // config.eval_every)
    if table.num_rows != rows:  # told first: what it should hold may be too much for the memory
        raise ValueError(f"it has {table.num_rows:,} rows, not {rows:,}")
    seeds = np.arange(config.first_seed, config.first_seed + config.seeds)
    steps = evaluation_steps(config.steps, config.eval_every)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    for name, expected in (
        ("seed", np.repeat(seeds, len(steps))),
        ("step", np.tile(steps, len(seeds))),
    ):
        if not np.array_equal(columns.pop(name), expected):
            raise ValueError(f"its column {name} is not that of its settings")
    if "return" not in columns:
        raise ValueError("it has no column return")
    for name, values in columns.items():
        if values.dtype.kind not in "biuf":
            raise ValueError(f"its column {name!r} is not of numbers")
    return seeds, steps, {k: v.reshape(len(seeds), len(steps)) for k, v in columns.items()}


def _load_parameters(contents: bytes | None, seeds: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """Results are of use without their parameters too."""
    if contents is not None:
        try:
            with np.load(io.BytesIO(contents), allow_pickle=False) as archive:
                parameters = archive["parameters"]
                sizes = tuple(map(int, archive["layer_sizes"]))
            if parameters.ndim == 2 and len(parameters) == seeds and parameters.dtype.kind == "f":
                return parameters, sizes
        except Exception:  # a damaged archive fails in more ways than can be listed
            pass
    return _without_parameters(seeds)


def _without_parameters(seeds: int) -> tuple[np.ndarray, tuple[int, ...]]:
    return np.zeros((seeds, 0), np.float32), ()
