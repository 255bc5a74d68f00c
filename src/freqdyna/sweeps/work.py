"""One unit's work: train from its newest checkpoint, tell how far it is, leave its result.

The training runs in a scratch folder of the machine; what must outlive the machine is copied to
the sweep's place. A unit is finished when `units/NAME.parquet` is there.
"""

import io
import json
import os
import socket
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from freqdyna import checkpoint
from freqdyna.config import Config
from freqdyna.errors import FreqdynaError
from freqdyna.progress import Progress
from freqdyna.results.result import Result
from freqdyna.stopping import InterruptedRun
from freqdyna.sweeps.place import Place
from freqdyna.sweeps.sweep import Unit

SECONDS_BETWEEN_NOTES = 2.0
_FACTS = b"freqdyna"


def compute(location: str, settings: list[dict[str, Any]], checkpoint_seconds: float) -> None:
    """Compute the units with these settings in one program, and store them at `location`.

    Everything comes in as plain data, so that any process on any machine can be asked to.
    """
    from freqdyna.run import Run
    from freqdyna.saving import Watching

    place = Place(location)
    units = [Unit(Config.of(of_one), len(settings)) for of_one in settings]
    if all(place.has(f"units/{unit.name}.parquet") for unit in units):
        return
    configs = [unit.config for unit in units]
    run = Run.prepare_together(configs) if len(units) > 1 else Run.prepare(configs[0], None)
    with tempfile.TemporaryDirectory(prefix="freqdyna-") as scratch:
        keeper = Keeper(place, units[0].name, Path(scratch), run.config.steps)
        keeper.fetch()
        watching = Watching(True, False, False, checkpoint_seconds)
        try:
            result = run.execute(Path(scratch), watching, keeper)
        except InterruptedRun:
            keeper.keep_checkpoint()
            raise
    for place_in_rows, unit in enumerate(units):
        store(place, unit, result.rows(unit.config, place_in_rows * unit.config.seeds))


class Keeper(Progress):
    """Passes on what a run tells and saves: a note of its step, and its newest checkpoint."""

    def __init__(self, place: Place, name: str, scratch: Path, steps: int) -> None:
        self._place, self._name, self._scratch, self._steps = place, name, scratch, steps
        self._began, self._told = time.time(), 0.0
        self._first_step = 0
        self._kept: str | None = None

    def fetch(self) -> None:
        """Bring the checkpoint that an earlier attempt left, if there is one."""
        contents = self._place.read(f"running/{self._name}.npz")
        if contents is not None:
            path = self._scratch / "fetched.npz"
            path.write_bytes(contents)
            try:
                step = int(checkpoint.load_arrays(path)[1]["step"])
            except (FreqdynaError, KeyError, TypeError, ValueError):
                path.unlink()  # the unit starts anew
                return
            self._first_step = step
            self._kept = checkpoint.checkpoint_path(self._scratch, step).name
            path.rename(self._scratch / self._kept)

    def keep_checkpoint(self) -> None:
        """Copy the newest checkpoint, if there is a new one."""
        saved = checkpoint.checkpoints(self._scratch)
        if saved and saved[0].name != self._kept:
            self._place.write(f"running/{self._name}.npz", saved[0].read_bytes())
            self._kept = saved[0].name

    def start(self) -> None:
        """Start the clock."""
        self._began = time.time()

    def note(self, text: str) -> None:
        """Keep quiet: the sweep tells of all units in one view."""

    def update(self, step: int, mean_return: float | None) -> None:
        """Leave a note of the step now and then, and each new checkpoint."""
        self.keep_checkpoint()
        now = time.time()
        if now - self._told < SECONDS_BETWEEN_NOTES:
            return
        self._told = now
        done = max(step - self._first_step, 1)
        left = (now - self._began) / done * (self._steps - step)
        facts: dict[str, Any] = {
            "step": step,
            "steps": self._steps,
            "mean_return": mean_return,
            "time": now,
        }
        facts |= {"seconds_left": left, "host": socket.gethostname(), "pid": os.getpid()}
        self._place.write_json(f"running/{self._name}.json", facts)


def store(place: Place, unit: Unit, result: Result) -> None:
    """Leave the result, the file that says "finished" last."""
    parameters = io.BytesIO()
    np.savez(parameters, parameters=result.parameters, layer_sizes=np.array(result.layer_sizes))
    place.write(f"units/{unit.name}.npz", parameters.getvalue())
    rows = {
        "seed": np.repeat(result.seeds.astype(np.int64), len(result.steps)),
        "step": np.tile(result.steps.astype(np.int64), len(result.seeds)),
    }
    rows |= {name: values.reshape(-1) for name, values in result.metrics.items()}
    facts = {"settings": asdict(unit.config), "provenance": result.provenance}
    table = pyarrow.table(rows).replace_schema_metadata({_FACTS: json.dumps(facts).encode()})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, compression="zstd")
    place.write(f"units/{unit.name}.parquet", file.getvalue())
    for leftover in ("running/{}.json", "running/{}.npz", "failed/{}.json"):
        place.remove(leftover.format(unit.name))


def load(place: Place, unit: Unit) -> Result:
    """A stored unit; a file that is damaged, or that another unit's settings made, is refused."""
    contents = place.read(f"units/{unit.name}.parquet")
    path = f"{place.location}/units/{unit.name}.parquet"
    if contents is None:
        raise FreqdynaError(f"{path} is missing: the unit is not finished")
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(contents))
        facts = json.loads(table.schema.metadata[_FACTS])
        config = Config.of(dict(facts["settings"]))
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        seeds, steps = np.unique(columns.pop("seed")), np.unique(columns.pop("step"))
        metrics = {k: v.reshape(len(seeds), len(steps)) for k, v in columns.items()}
        provenance = dict(facts["provenance"])
    except (
        FreqdynaError,
        pyarrow.ArrowException,
        OSError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        raise FreqdynaError(f"{path} is damaged ({error}); remove it to compute it anew") from None
    if Unit(config, unit.together) != unit:
        raise FreqdynaError(f"{path} holds another unit, with {config}; remove it")
    parameters, sizes = _load_parameters(place.read(f"units/{unit.name}.npz"), len(seeds))
    return Result(config, provenance, seeds, steps, metrics, parameters, sizes)


def merged(blocks: list[Result]) -> Result:
    """Blocks of seeds of one combination as one result."""
    first = blocks[0]
    if any(not np.array_equal(block.steps, first.steps) for block in blocks):
        raise FreqdynaError("blocks of seeds of one combination have different evaluations")
    seeds = np.concatenate([block.seeds for block in blocks])
    return Result(
        config=replace(first.config, seeds=len(seeds)),
        provenance=first.provenance,
        seeds=seeds,
        steps=first.steps,
        metrics={
            name: np.concatenate([block.metrics[name] for block in blocks])
            for name in first.metrics
        },
        parameters=np.concatenate([block.parameters for block in blocks]),
        layer_sizes=first.layer_sizes,
    )


def _load_parameters(contents: bytes | None, seeds: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """Results are of use without their parameters too."""
    if contents is not None:
        try:
            with np.load(io.BytesIO(contents), allow_pickle=False) as archive:
                return archive["parameters"], tuple(map(int, archive["layer_sizes"]))
        except Exception:  # a damaged archive fails in more ways than can be listed
            pass
    return np.zeros((seeds, 0), np.float32), ()
