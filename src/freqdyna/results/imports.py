"""Import learning curves of other programs, so that they appear wherever runs do.

They come from CSV files, from evaluations.npz and monitor files of Stable-Baselines3, and from
TensorBoard event files (extra 'tensorboard'). The last two also have wall-clock times.
"""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from pyarrow import ArrowException, Table, string
from pyarrow.csv import ReadOptions, read_csv

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, installing, one_line, shortened
from freqdyna.envs import ENVIRONMENTS
from freqdyna.results.folder import command
from freqdyna.results.record import IMPORTED, SECONDS, TRAINING_RETURNS
from freqdyna.results.result import Result

UNKNOWN = "unknown environment"
POINTS = 100
"""The largest number of intervals of a curve whose seeds were recorded at different steps."""
EVENTS_PREFIX = "events.out.tfevents"
"""The beginning of the names of event files."""
TRAINING_TAGS = ("rollout/ep_rew_mean", "charts/episodic_return")
"""The names of returns of training episodes in the events of Stable-Baselines3 and CleanRL."""
TAGS = ("eval/mean_reward", *TRAINING_TAGS)
"""The names of returns in these events, in order of preference."""
_CSV, _MONITOR = "CSV", "Stable-Baselines3 monitor"
_EVALUATIONS, _EVENTS = "Stable-Baselines3 evaluations", "TensorBoard events"
_INSIDE = {
    _EVALUATIONS: "evaluations.npz",
    _MONITOR: "*monitor.csv",
    _EVENTS: f"{EVENTS_PREFIX}*",
}
"""The files of each format that a folder of one training may have."""


class Curve(NamedTuple):
    """The returns of one seed."""

    seed: int
    steps: np.ndarray
    """Environment steps, strictly increasing, shape (points,), at least one."""
    returns: np.ndarray
    """Shape (points,)."""
    seconds: np.ndarray | None = None
    """Wall-clock time since the start of the training, shape (points,), if it is known."""


def import_curves(
    *sources: str | os.PathLike[str],
    name: str | None = None,
    env: str | None = None,
    episode_limit: int | None = None,
    tag: str | None = None,
    every: int | None = None,
    where: Mapping[str, str] | None = None,
) -> Result:
    """Import the learning curves of one algorithm in one environment.

    Args:
        *sources: CSV files with the columns seed, step and return; or for each seed, in order, one
            of evaluations.npz or a monitor file of Stable-Baselines3, a TensorBoard event file, or
            a folder that has one of these.
        name: The name of the algorithm; None for that of the file or folder.
        env: The name of the environment; None for that in monitor files, if there is one.
        episode_limit: After how many steps its episodes were truncated; None for Gymnasium's limit,
            and for CSV files that of the built-in environment of this name.
        tag: The name of the scalar in TensorBoard event files; None for the usual names of
            Stable-Baselines3 and CleanRL.
        every: Average returns over intervals of so many steps; None to do so only if the seeds have
            different steps, over up to 100 intervals.
        where: Values of columns of CSV files, such as {"algorithm": "SAC", "env": "Hopper-v4"}:
            other rows are left out. `name` and `env` are then these two, unless they are set.

    Returns:
        The curves as a result without parameters: it can be plotted, compared, and saved to a
        folder that can be used like a run folder.

    """
    if not sources:
        raise FreqdynaError("files is empty; it must have at least one file")
    if every is not None and every < 1:
        raise FreqdynaError(f"every is {every}; it must be an integer, 1 or greater")
    paths = [Path(source) for source in sources]
    formats, files = zip(*map(_format_and_files, paths), strict=True)
    if len(set(formats)) > 1:
        kinds = " and ".join(dict.fromkeys(formats))
        raise FreqdynaError(f"files has {kinds} files; all must have one format")
    kind, details, where = formats[0], dict[str, Any](), dict(where or {})
    if where and kind != _CSV:
        raise FreqdynaError(f"where is {where}; it can only be used with CSV files")
    if where:
        name, env = name or where.get("algorithm"), env or where.get("env")
        details["where"] = where
    if tag is not None and kind != _EVENTS:
        raise FreqdynaError(f"tag is {tag!r}; it can only be used with TensorBoard event files")
    if kind == _CSV:
        curves = _csv_curves([file for [file] in files], where)
    elif kind == _EVALUATIONS:
        curves = [_evaluations(seed, file) for seed, [file] in enumerate(files)]
    elif kind == _MONITOR:
        ids: set[str | None] = set()
        curves = [_monitors(seed, of_seed, ids) for seed, of_seed in enumerate(files)]
        env = env or (ids.pop() if len(ids) == 1 else None)
        details = {"returns": TRAINING_RETURNS}
    else:
        scalars = [_scalars(of_seed) for of_seed in files]
        tag = tag or next((usual for usual in TAGS if usual in scalars[0]), None)
        curves = [_tagged(seed, tag, of_seed) for seed, of_seed in enumerate(scalars)]
        details = {"tag": tag} | ({"returns": TRAINING_RETURNS} if tag in TRAINING_TAGS else {})
    steps, metrics, every = at_common_steps(curves, every)
    if every is not None:
        details["averaged_over_steps"] = every
    first = paths[0].absolute()  # files of other formats always have the same names
    default = first.stem if kind == _CSV else first.name if first.is_dir() else first.parent.name
    facts = {
        "name": name or default or "curves",
        "format": kind,
        "files": [
            {"file": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
            for of_seed in files
            for file in of_seed
        ],
    }
    provenance = {
        IMPORTED: facts | details,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(),
        "versions": {"freqdyna": metadata.version("freqdyna")},
    }
    env = env or UNKNOWN
    if episode_limit is None and kind != _CSV and env in ENVIRONMENTS:
        # Gymnasium's limit may differ from that of the built-in environment.
        spec = gymnasium.registry.get(env)
        episode_limit = None if spec is None else spec.max_episode_steps
    seeds = np.array([curve.seed for curve in curves])
    config = Config.of(  # of the other settings nothing is known
        {
            "algorithm": f"{facts['name']} (imported)",
            "env": {"name": env}
            | ({} if episode_limit is None else {"episode_limit": episode_limit}),
            "seeds": len(seeds),
            "steps": max(1, int(steps[-1])),
        }
    )
    no_parameters = np.zeros((len(seeds), 0), np.float32)
    return Result(config, provenance, seeds, steps, metrics, no_parameters, ())


def at_common_steps(
    curves: Sequence[Curve], every: int | None = None
) -> tuple[np.ndarray, dict[str, np.ndarray], int | None]:
    """Common steps, shape (points,), and returns and times there, each of shape (seeds, points).

    If all seeds have the same steps, these are kept. Otherwise, as for the episodes of a training,
    the return at each multiple of `every` is the mean over the interval that ends there, or the
    latest return before if the interval has none. If `every` is None, there are up to `POINTS`.
    The third is the length of the intervals, None if returns are not averaged.
    """
    steps = curves[0].steps
    same = every is None and all(np.array_equal(curve.steps, steps) for curve in curves)
    if not same:
        begin = max(curves, key=lambda curve: curve.steps[0])
        end = min(curves, key=lambda curve: curve.steps[-1])
        low, high = int(begin.steps[0]), int(end.steps[-1])
        if low > high:
            raise FreqdynaError(
                f"the seeds have no common steps: seed {end.seed} ends at step {high:,}, and seed "
                f"{begin.seed} begins at step {low:,}"
            )
        every = every or _round_number((high - low) / POINTS)
        steps = every * np.arange(-(-low // every), high // every + 1)
        steps = steps if len(steps) else np.array([high])
    metrics = {"return": np.stack([_averaged(curve, steps, every) for curve in curves])}
    times = [
        curve.seconds[np.searchsorted(curve.steps, steps, side="right") - 1]
        for curve in curves
        if curve.seconds is not None
    ]
    if len(times) == len(curves):
        metrics[SECONDS] = np.stack(times)
    return steps, metrics, every


def _round_number(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is not smaller."""
    power = 10 ** math.floor(math.log10(max(least, 1.0)))
    return next(int(factor * power) for factor in (1, 2, 5, 10) if factor * power >= least)


def _averaged(curve: Curve, steps: np.ndarray, every: int | None) -> np.ndarray:
    if every is None:
        return curve.returns
    sums = np.concatenate([[0.0], np.cumsum(curve.returns)])
    before, until = (
        np.searchsorted(curve.steps, ends, side="right") for ends in (steps - every, steps)
    )
    numbers = until - before
    means = (sums[until] - sums[before]) / np.maximum(numbers, 1)
    return np.where(numbers > 0, means, curve.returns[until - 1])


def _format_and_files(path: Path) -> tuple[str, list[Path]]:
    """The format of a file, or of the files in a folder, and these files."""
    if path.is_dir():
        inside = {kind: sorted(path.glob(pattern)) for kind, pattern in _INSIDE.items()}
        kinds = [kind for kind, files in inside.items() if files]
        if len(kinds) != 1:
            has = " and ".join(kinds) or "no file"
            raise FreqdynaError(
                f"{str(path)!r} is a folder with {has} to import; it must have files of one of the "
                f"formats {', '.join(_INSIDE)}; of several seeds, name one file or folder each"
            )
        return kinds[0], inside[kinds[0]]
    if not path.is_file():
        raise FreqdynaError(f"files has {str(path)!r}, which does not exist")
    if path.name.startswith(EVENTS_PREFIX):
        return _EVENTS, [path]
    if path.suffix == ".npz":
        return _EVALUATIONS, [path]
    if path.suffix == ".csv":
        return _MONITOR if path.read_bytes()[:1] == b"#" else _CSV, [path]
    raise FreqdynaError(
        f"files has {str(path)!r}; it must end in .csv or .npz, or begin with {EVENTS_PREFIX}"
    )


def _csv_curves(paths: Sequence[Path], where: Mapping[str, str]) -> list[Curve]:
    """The curves in CSV files, which together have one row for each seed and step."""
    columns = ("seed", "step", "return")
    tables = [_csv_columns(path, columns, integers=2, where=where) for path in paths]
    rows = np.concatenate(tables, axis=1)
    seeds, steps, returns = rows[:, np.lexsort((rows[1], rows[0]))]
    repeated = (np.diff(seeds) == 0) & (np.diff(steps) == 0)
    if repeated.any():
        seed, step = (int(values[:-1][repeated][0]) for values in (seeds, steps))
        raise FreqdynaError(
            f"{paths[0]}: seed {seed} has step {step} twice; it must have one row (rows of one "
            "algorithm and environment are chosen by where, such as --where env=Hopper-v4)"
        )
    return [
        Curve(int(seed), steps[seeds == seed].astype(np.int64), returns[seeds == seed])
        for seed in np.unique(seeds)
    ]


def _csv_columns(
    path: Path,
    names: Sequence[str],
    integers: int,
    comments: int = 0,
    where: Mapping[str, str] | None = None,
) -> np.ndarray:
    """Columns of a CSV file, shape (columns, rows), the first ones integers; NaN if not finite."""
    try:
        table = read_csv(path, ReadOptions(skip_rows=comments))
        table = table.rename_columns([name.strip() for name in table.column_names])
        for name, value in (where or {}).items():
            table = _rows_with(table, name, value, path)
        rows = np.stack([table[name].to_numpy().astype(np.float64) for name in names])
    except (ArrowException, KeyError, ValueError, TypeError) as error:
        raise FreqdynaError(
            f"{path} must have the columns {', '.join(names)} with a number in each row; "
            f"{one_line(error)}"
        ) from None
    counts = rows[:integers]
    if not rows.size or not ((counts >= 0) & (counts < 2**53) & (counts % 1 == 0)).all():
        raise FreqdynaError(
            f"{path} must have rows with integers, 0 or greater, in: {', '.join(names[:integers])}"
        )
    return np.where(np.isfinite(rows), rows, np.nan)


def _rows_with(table: Table, name: str, value: str, path: Path) -> Table:
    """The rows with a value in a column."""
    if name not in table.column_names:
        raise FreqdynaError(
            f"where has {name!r}; it must be a column of {path}: {', '.join(table.column_names)}"
        )
    values = [str(value).strip() for value in table[name].cast(string()).to_pylist()]
    if value not in values:
        some = ", ".join(map(str, list(dict.fromkeys(values))[:8]))
        raise FreqdynaError(f"where has {name} = {value!r}; {path} has no row with it, but: {some}")
    return table.filter([one == value for one in values])


def _evaluations(seed: int, path: Path) -> Curve:
    """The mean returns of evaluations that EvalCallback of Stable-Baselines3 wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:  # a pickle could run code
            steps = np.asarray(file["timesteps"])
            results = np.asarray(file["results"], np.float64).reshape(len(steps), -1)
        returns = results.mean(axis=1)
        valid = results.size and steps.dtype.kind in "iu" and steps[0] >= 0
        if not valid or (np.diff(steps) <= 0).any():
            raise ValueError
    except (KeyError, OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile):
        raise FreqdynaError(
            f"{path} is not evaluations.npz of Stable-Baselines3: it must have timesteps, which "
            "increase, of shape (evaluations,), and results of shape (evaluations, episodes)"
        ) from None
    return Curve(seed, steps, returns)


def _monitors(seed: int, paths: Sequence[Path], ids: set[str | None]) -> Curve:
    """The returns of training episodes in the monitor files of one training.

    There is one file for each environment of the training. Their steps are counted together in the
    order of time, as Stable-Baselines3 does. The ids of the environments are added to `ids`.
    """
    episodes, starts = [], []
    for path in paths:
        try:
            header = json.loads(path.read_text().partition("\n")[0].removeprefix("#"))
            start, env_id = float(header.get("t_start", 0.0)), header.get("env_id")
        except (ValueError, TypeError, AttributeError, IndexError):
            raise FreqdynaError(
                f"{path} is not a monitor file of Stable-Baselines3: its first line must be # and "
                "a JSON object"
            ) from None
        ids.add(None if env_id in ("", "None") else env_id)  # of an environment without an id
        starts.append(start)
        lengths, times, returns = _csv_columns(path, "ltr", integers=1, comments=1)
        episodes.append([start + times, lengths, returns])
    together = np.concatenate(episodes, axis=1)
    times, lengths, returns = together[:, np.argsort(together[0], kind="stable")]
    return _sorted_curve(seed, np.cumsum(lengths), returns, times - min(starts))


def _scalars(paths: Sequence[Path]) -> dict[str, list[tuple[int, float, float]]]:
    """Steps, values and seconds of all scalars in the event files of one training, by name."""
    try:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
        from tensorboard.util import tensor_util
    except ImportError:
        raise FreqdynaError(
            f"TensorBoard event files need the extra 'tensorboard': {installing('tensorboard')}"
        ) from None
    scalars: dict[str, list[tuple[int, float, float]]] = {}
    start: float | None = None
    for path in paths:
        for event in EventFileLoader(str(path)).Load():
            start = event.wall_time if start is None else start
            for value in event.summary.value:
                # The loader has converted simple values to tensors.
                if value.metadata.plugin_data.plugin_name in ("", "scalars"):
                    number = tensor_util.make_ndarray(value.tensor)
                    if number.size == 1 and number.dtype.kind in "biuf":
                        point = event.step, float(number.item()), event.wall_time - start
                        scalars.setdefault(value.tag, []).append(point)
    return scalars


def _tagged(
    seed: int, tag: str | None, scalars: dict[str, list[tuple[int, float, float]]]
) -> Curve:
    if tag not in scalars:
        has = ", ".join(sorted(scalars)) or "none"
        raise FreqdynaError(
            f"tag is {shortened(tag)}; it must be the name of a scalar in the files of every seed; "
            f"those of the seed {seed} are: {has}"
        )
    return _sorted_curve(seed, *np.array(scalars[tag]).T)


def _sorted_curve(seed: int, steps: np.ndarray, returns: np.ndarray, seconds: np.ndarray) -> Curve:
    """A curve of points in any order; several returns at one step are averaged."""
    order, place, counts = np.unique(steps, return_inverse=True, return_counts=True)
    means, times = (np.bincount(place, weights=w) / counts for w in (returns, seconds))
    return Curve(seed, order.astype(np.int64), means, times)
