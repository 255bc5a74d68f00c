"""The run folder: everything about one run.

provenance.json     command, date, commit, versions, machine; where imported curves come from
config.toml         every setting of the run
arrays.npz          the trained parameters, one row per seed, and the snapshots
metrics.parquet     one row per seed and evaluation
checkpoint-*.npz    the most recent states, for `freqdyna resume`
locked-by.txt       the process that trains the run; .lock is the lock of the folder

The first four are the results, also of a unit of a sweep. Resuming needs the first two and a
checkpoint, which has everything else. Damage to any file is noticed when it is read.
"""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from freqdyna.config import Config
from freqdyna.core import files
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import LOCK, OWNER, PARTIAL
from freqdyna.results.record import IMPORTED, Record, Snapshots, evaluation_steps

PROVENANCE, CONFIG = "provenance.json", "config.toml"
ARRAYS, METRICS = "arrays.npz", "metrics.parquet"
FILES = (PROVENANCE, CONFIG, ARRAYS, METRICS)
"""The files of a training's results, in the order in which they are written."""
_TITLE = "A run of freqdyna, format 1. To train with other settings, change a copy of this file."
_SNAPSHOT = "snapshot"
"""Arrays of snapshots are named snapshot/STEP/NAME."""

AnyRecord = TypeVar("AnyRecord", bound=Record)


def encode(record: Record) -> dict[str, bytes]:
    """The contents of a training's files by name, in the order in which they are written.

    With `CONFIG` there is a run that can begin; with `METRICS` it has results.
    """
    evaluations = len(record.steps)
    columns = {
        "seed": np.repeat(record.seeds.astype(np.int64), evaluations),
        "step": np.tile(record.steps.astype(np.int64), len(record.seeds)),
    }
    columns |= {name: values.reshape(-1) for name, values in record.metrics.items()}
    arrays = {"parameters": record.parameters, "layer_sizes": np.array(record.layer_sizes, int)}
    arrays |= snapshot_arrays(record.snapshots)
    return {
        PROVENANCE: files.encode_json(record.provenance),
        CONFIG: encode_config(record.config),
        ARRAYS: files.encode_arrays(arrays, {}),
        METRICS: files.encode_table(columns),
    }


def decode(contents: Mapping[str, bytes], kind: type[AnyRecord]) -> AnyRecord:
    """The training in files by name, which may be unfinished and without `ARRAYS`.

    A message about a file that is damaged, or not one of this training, begins with its name.
    """
    if missing := {PROVENANCE, CONFIG, METRICS} - contents.keys():
        raise DamagedFileError(f"{missing.pop()} is missing")
    config = decode_config(contents[CONFIG])
    with _naming(PROVENANCE):
        provenance = files.decode_json(contents[PROVENANCE])
    with _naming(METRICS):
        seeds, steps, metrics = _decode_metrics(contents[METRICS])
        evaluated = evaluation_steps(config.steps, config.eval_every)[: len(steps)]
        fits = len(seeds) == config.seeds and seeds[0] == config.first_seed  # there may be gaps
        if IMPORTED not in provenance and not (fits and np.array_equal(steps, evaluated)):
            raise DamagedFileError(f"it does not have the seeds and evaluations of {CONFIG}")
    parameters, layer_sizes = np.zeros((len(seeds), 0), np.float32), np.zeros(0, int)
    snapshots: Snapshots = {}
    if ARRAYS in contents:
        with _naming(ARRAYS):
            arrays, _ = files.decode_arrays(contents[ARRAYS])
            parameters, layer_sizes = arrays["parameters"], arrays["layer_sizes"]
            snapshots = snapshots_in(arrays)
            if len(parameters) != len(seeds):
                raise DamagedFileError(f"it has {len(parameters)} seeds, not {len(seeds)}")
    sizes = tuple(layer_sizes.tolist())
    return kind(config, provenance, seeds, steps, metrics, parameters, sizes, snapshots)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except (DamagedFileError, LookupError, ValueError) as error:
        raise DamagedFileError(f"{name} is damaged ({error})") from None


def _decode_metrics(contents: bytes) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Seeds, steps and metrics of a table with the rows of one seed after the other."""
    columns = files.decode_table(contents)
    seed, step = columns.pop("seed"), columns.pop("step")
    steps = step[seed == seed[0]]
    seeds = seed[:: len(steps)]
    shape = len(seeds), len(steps)
    return seeds, steps, {name: values.reshape(shape) for name, values in columns.items()}


def encode_config(config: Config) -> bytes:
    """The settings of a run as the contents of their file."""
    return files.encode_toml(config.to_toml(), _TITLE)


def decode_config(contents: bytes) -> Config:
    """The settings of a run in the contents of their file."""
    try:
        files.check_seal(contents)
    except DamagedFileError as error:
        raise DamagedFileError(
            f"{CONFIG} was changed ({error}); undo that, and use new settings for a new run: "
            "freqdyna train --config FILE"
        ) from None
    try:
        return Config.of(files.parse_toml(contents.decode(), CONFIG))
    except FreqdynaError as error:
        raise FreqdynaError(f"{CONFIG} is of another version of freqdyna: {error}") from None


def snapshot_arrays(snapshots: Snapshots) -> dict[str, np.ndarray]:
    """The arrays of snapshots by names of their own."""
    return {
        f"{_SNAPSHOT}/{step}/{name}": values
        for step, snapshot in snapshots.items()
        for name, values in snapshot.items()
    }


def snapshots_in(arrays: Mapping[str, np.ndarray]) -> Snapshots:
    """The snapshots among arrays that `snapshot_arrays` named."""
    snapshots: Snapshots = {}
    for path, values in arrays.items():
        first, *rest = path.split("/", 2)
        if first == _SNAPSHOT:
            step, name = rest
            snapshots.setdefault(int(step), {})[name] = values
    return snapshots


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Create a folder, which must not exist or be empty, and hold its lock; yields its path."""
    path = Path(folder)
    try:
        _check_new(path)
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be created: {error}") from None
    with files.locked_folder(path):
        _check_new(path)  # another process may have created it meanwhile
        files.remove_partial_files(path)
        yield path


@contextmanager
def opened_folder(folder: Path) -> Iterator[list[str]]:
    """Hold the lock of a run folder, and remove partial files; yields messages for the user."""
    with files.locked_folder(folder, "folder") as ended:
        files.remove_partial_files(folder)
        killed = f"the {ended} that worked on this run ended without finishing"
        yield [f"{killed}; continuing from its last checkpoint"] if ended else []


def _check_new(path: Path) -> None:
    """Raise an error unless the folder is new or empty, except for what a killed process left."""
    if path.is_dir():
        left = {OWNER, LOCK, PROVENANCE, *(file.name for file in path.glob(PARTIAL))}
        taken = any(file.name not in left for file in path.iterdir())
    else:
        taken = path.exists()
    if taken:
        raise FreqdynaError(
            f"out is {str(path)!r}, which exists; choose a new folder, "
            "or continue a run with freqdyna resume"
        )


def is_run_folder(folder: Path) -> bool:
    """Whether a folder has a run, which may be unfinished."""
    return (folder / CONFIG).is_file()


def has_results(folder: Path) -> bool:
    """Whether a run has been evaluated."""
    return (folder / METRICS).is_file()


def free_name(config: Config, parent: Path = Path("runs")) -> Path:
    """A folder name in `parent` that is not taken yet."""
    chosen = config.search_control if config.algorithm == "dyna" else None
    name = "-".join(filter(None, (config.algorithm, chosen, config.env)))
    name = re.sub(r"[^\w.-]+", "-", name).strip("-")  # such as the colon of module:Class
    names = [name, *(f"{name}-{i}" for i in range(2, 10_000))]
    return next(parent / n for n in names if not (parent / n).exists())


def read_config(folder: Path) -> Config:
    """The settings of a run folder."""
    if not is_run_folder(folder):
        raise FreqdynaError(f"{str(folder)!r} is not a run folder: it has no {CONFIG}")
    with _in_folder(folder):
        return decode_config((folder / CONFIG).read_bytes())


def read_provenance(folder: Path) -> dict[str, Any]:
    """The provenance of a run folder."""
    with _in_folder(folder), _naming(PROVENANCE):
        return files.decode_json((folder / PROVENANCE).read_bytes())


def write(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files by name, in their order, each atomically."""
    for name, of_file in contents.items():
        files.write_atomically(folder / name, of_file)


def write_output(path: Path, contents: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file that the user named atomically, or let a function write it."""
    try:
        files.write_atomically(path, contents)
    except (OSError, ValueError) as error:  # such as an ending that Matplotlib does not know
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be written: {error}") from None


def begin(folder: Path, config: Config, facts: dict[str, Any]) -> None:
    """Write what a run that has not been evaluated yet has: its provenance and its settings."""
    write(folder, {PROVENANCE: files.encode_json(facts), CONFIG: encode_config(config)})


def read_record(folder: Path, kind: type[AnyRecord]) -> AnyRecord:
    """The training in a run folder, also of a run in progress, which writes atomically."""
    read_config(folder)
    if not has_results(folder):
        raise FreqdynaError(
            f"{str(folder)!r} has no {METRICS} yet; finish the run with: freqdyna resume {folder}"
        )
    with _in_folder(folder):
        names = [name for name in FILES if (folder / name).exists()]
        return decode({name: (folder / name).read_bytes() for name in names}, kind)


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    """Add the folder to errors that begin with the name of a file in it."""
    try:
        yield
    except FreqdynaError as error:
        raise FreqdynaError(f"{folder}/{error}") from None


def provenance(devices: list[Any], **facts: Any) -> dict[str, Any]:
    """The provenance of a run: command, date, commit, versions, machine, and further facts."""
    packages = ("freqdyna", "jax", "jaxlib", "equinox", "optax", "numpy", "gymnasium")
    versions = {package: metadata.version(package) for package in packages}
    return {
        "command": command(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": {"python": platform.python_version()} | versions,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "device_kind": devices[0].device_kind,
        "devices": len(devices),
        **facts,
    }


def command() -> str:
    """The command of this process; "freqdyna" also if it was started as a module."""
    name = Path(sys.argv[0]).name
    return " ".join(["freqdyna" if name == "__main__.py" else name, *sys.argv[1:]])


def commit() -> str | None:
    """The commit of the source tree, with `-dirty` if it was changed; None if installed."""
    git = ["git", "-C", str(Path(__file__).parent)]
    describe = ["describe", "--always", "--dirty", "--abbrev=40"]
    try:
        for arguments in (["ls-files", "--error-unmatch", __file__], describe):
            answer = subprocess.run(
                [*git, *arguments], capture_output=True, text=True, check=True
            ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.strip()
