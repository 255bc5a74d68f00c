"""Import learning curves of other programs, so that they appear wherever runs do."""

import hashlib
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from freqdyna.config import Config
from freqdyna.core.episode_limits import EPISODE_LIMITS, GYMNASIUMS_LIMITS
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.folder import command, free_name
from freqdyna.results.imported import event_files, stable_baselines3
from freqdyna.results.imported.csv_files import Columns, read_csv_curves
from freqdyna.results.imported.curves import Curve, at_common_steps
from freqdyna.results.record import IMPORTED, TRAINING_RETURNS
from freqdyna.results.result import Result

UNKNOWN = "unknown environment"
_CSV, _MONITOR = "CSV", "Stable-Baselines3 monitor"
_EVALUATIONS, _EVENTS = "Stable-Baselines3 evaluations", "TensorBoard events"
_INSIDE = {
    _EVALUATIONS: "evaluations.npz",
    _MONITOR: "*monitor.csv",
    _EVENTS: f"{event_files.PREFIX}*",
}
"""The files of each format that a folder of one training may have."""


def import_curves(
    *sources: str | os.PathLike[str],
    name: str | None = None,
    env: str | None = None,
    out: str | os.PathLike[str] | None = None,
    seed_column: str = "seed",
    step_column: str = "step",
    return_column: str = "return",
    tag: str | None = None,
    every: int | None = None,
) -> Result:
    """Import the learning curves of one algorithm in one environment.

    Args:
        *sources: CSV files with a row for each seed and step; or for each seed, in order, one of
            evaluations.npz or a monitor file of Stable-Baselines3, a TensorBoard event file, or a
            folder that has one of these.
        name: The name of the algorithm; None for that of the file or folder.
        env: The name of the environment, with its episode limit if that was not Gymnasium's, such
            as "MountainCar-v0 (2000 steps)"; None for that in monitor files, if there is one.
        out: A new folder for the curves, which can be used like a run folder.
        seed_column: The column of the seed in CSV files.
        step_column: The column of the environment steps.
        return_column: The column of the return.
        tag: The name of the scalar in TensorBoard event files; None for the usual names of
            Stable-Baselines3 and CleanRL.
        every: Average returns over intervals of so many steps; None to do so only if the seeds have
            different steps, over up to 100 intervals.

    Returns:
        The curves as a result without parameters: it can be plotted, compared, and saved.

    """
    if not sources:
        raise FreqdynaError("files is empty; it must have at least one file")
    if every is not None and every < 1:
        raise FreqdynaError(f"every is {every}; it must be an integer, 1 or greater")
    paths = [Path(source) for source in sources]
    columns = Columns(seed_column, step_column, return_column)
    found = _read([_source(path) for path in paths], columns, tag)
    env = _env_name(env or found.env or UNKNOWN, found.format)
    common = at_common_steps(found.curves, every)
    facts = {
        "name": name or _default_name(paths[0], found.format),
        "env": env,
        "format": found.format,
        "files": [{"file": str(file), "sha256": _sha256(file)} for file in found.files],
        **found.details,
    }
    if common.every is not None:
        facts["averaged_over_steps"] = common.every
    provenance = {
        IMPORTED: facts,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(),
        "versions": {"freqdyna": metadata.version("freqdyna")},
    }
    seeds = np.array([curve.seed for curve in found.curves])
    config = Config(  # of the other settings nothing is known; they have no meaning
        algorithm=f"{facts['name']} (imported)",
        env=env,
        seeds=len(seeds),
        steps=max(1, int(common.steps[-1])),
        warmup_steps=0,
    )
    no_parameters = np.zeros((len(seeds), 0), np.float32)
    metrics = {"return": common.returns}
    result = Result(config, provenance, seeds, common.steps, metrics, no_parameters, ())
    if out is not None:
        result.save(out)
    return result


def free_folder(result: Result) -> Path:
    """A folder in runs/ for imported curves that is not taken yet."""
    facts = result.provenance[IMPORTED]
    return free_name(Config(algorithm=facts["name"], env=facts["env"]))


class _Source(NamedTuple):
    """The files of one argument."""

    format: str
    files: list[Path]


class _Found(NamedTuple):
    format: str
    files: list[Path]
    curves: list[Curve]
    env: str | None
    """The environment that the files name."""
    details: dict[str, Any]
    """What was read of the files."""


def _source(path: Path) -> _Source:
    """The format of a file, or of the files in a folder."""
    if path.is_dir():
        inside = {
            kind: sorted(file for file in path.glob(pattern) if file.is_file())
            for kind, pattern in _INSIDE.items()
        }
        kinds = [kind for kind, files in inside.items() if files]
        if not kinds and any(entry.is_dir() for entry in path.iterdir()):
            raise FreqdynaError(
                f"{str(path)!r} is a folder of folders; name the folders or the files in them, one "
                f"for each seed, such as {path}/*/"
            )
        if len(kinds) != 1:
            has = " and ".join(kinds) or "no file"
            raise FreqdynaError(
                f"{str(path)!r} is a folder with {has}; it must have files of one of the formats "
                f"{', '.join(_INSIDE)}, or name a file"
            )
        return _Source(kinds[0], inside[kinds[0]])
    if not path.is_file():
        raise FreqdynaError(f"files has {str(path)!r}, which does not exist")
    if path.name.startswith(event_files.PREFIX):
        return _Source(_EVENTS, [path])
    if path.suffix == ".npz":
        return _Source(_EVALUATIONS, [path])
    if path.suffix == ".csv":
        return _Source(_MONITOR if stable_baselines3.is_monitor(path) else _CSV, [path])
    raise FreqdynaError(
        f"files has {str(path)!r}; it must end in .csv or .npz, or begin with {event_files.PREFIX}"
    )


def _read(sources: Sequence[_Source], columns: Columns, tag: str | None) -> _Found:
    formats = list(dict.fromkeys(source.format for source in sources))
    if len(formats) > 1:
        raise FreqdynaError(f"files has {' and '.join(formats)} files; all must have one format")
    files = [file for source in sources for file in source.files]
    curves: list[Curve] = []
    ids: dict[str | None, None] = {}
    details: dict[str, Any] = {}
    if tag is not None and formats[0] != _EVENTS:
        raise FreqdynaError(f"tag is {tag!r}; it can only be used with TensorBoard event files")
    if formats[0] == _CSV:
        details["columns"] = list(columns)
        curves = read_csv_curves(files, columns)
    elif formats[0] == _EVALUATIONS:
        curves = [stable_baselines3.read_evaluations(f, i) for i, f in enumerate(files)]
    elif formats[0] == _MONITOR:
        details["returns"] = TRAINING_RETURNS
        for seed, source in enumerate(sources):
            curve, env = stable_baselines3.read_monitors(source.files, seed)
            curves.append(curve)
            ids[env] = None
    else:
        for seed, source in enumerate(sources):
            curve, tag = event_files.read_events(source.files, seed, tag)  # the same for all seeds
            curves.append(curve)
        details["tag"] = tag
        if tag in event_files.TRAINING_TAGS:
            details["returns"] = TRAINING_RETURNS
    return _Found(formats[0], files, curves, next(iter(ids)) if len(ids) == 1 else None, details)


def _env_name(env: str, source: str) -> str:
    """The name of the environment of some files, as `Config.env_name` would write it.

    Stable-Baselines3 and CleanRL train in Gymnasium's environments, whose episode limit may differ
    from that of the built-in one of the same name. A CSV file may come from either.
    """
    limit = None if source == _CSV else GYMNASIUMS_LIMITS.get(env)
    named = re.fullmatch(r"(.+) \(([1-9]\d{0,8}) steps\)", env)
    if named is not None and named[1] in EPISODE_LIMITS:  # the limit was given
        env, limit = named[1], int(named[2])
    return Config(env=env, episode_limit=limit).env_name


def _default_name(path: Path, source: str) -> str:
    """A name from the file, or from the folder if its files always have the same names."""
    named = path if path.is_dir() else path.with_suffix("") if source == _CSV else path.parent
    return named.absolute().name or "curves"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
