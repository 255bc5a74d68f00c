"""Import learning curves of other programs, so that they appear wherever runs do.

They come from CSV files, from evaluations.npz and monitor files of Stable-Baselines3, and from
TensorBoard event files (extra 'tensorboard').
"""

import csv
import hashlib
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, installing, shown
from freqdyna.envs import ENVIRONMENTS
from freqdyna.envs.names import env_label
from freqdyna.results.folder import command, free_name
from freqdyna.results.record import IMPORTED, TRAINING_RETURNS
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


class CommonCurves(NamedTuple):
    """The returns of all seeds at the same steps."""

    steps: np.ndarray
    """Shape (points,)."""
    returns: np.ndarray
    """Shape (seeds, points), in the order of the curves."""
    every: int | None
    """The length of the intervals over which returns were averaged; None if they were not."""


class _Source(NamedTuple):
    """The files of one argument."""

    format: str
    files: list[Path]


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
    found = [_source(path) for path in paths]
    formats = list(dict.fromkeys(source.format for source in found))
    if len(formats) > 1:
        raise FreqdynaError(f"files has {' and '.join(formats)} files; all must have one format")
    if tag is not None and formats != [_EVENTS]:
        raise FreqdynaError(f"tag is {tag!r}; it can only be used with TensorBoard event files")
    columns = (seed_column, step_column, return_column)
    curves, env_id, details = _read(formats[0], found, columns, tag)
    common = at_common_steps(curves, every)
    files = [file for source in found for file in source.files]
    facts = {
        "name": name or _default_name(paths[0], formats[0]),
        "env": _env_name(env or env_id or UNKNOWN, formats[0]),
        "format": formats[0],
        "files": [
            {"file": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
            for file in files
        ],
        **details,
    }
    if common.every is not None:
        facts["averaged_over_steps"] = common.every
    provenance = {
        IMPORTED: facts,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(),
        "versions": {"freqdyna": metadata.version("freqdyna")},
    }
    seeds = np.array([curve.seed for curve in curves])
    config = Config(  # of the other settings nothing is known; they have no meaning
        algorithm=f"{facts['name']} (imported)",
        env=facts["env"],
        seeds=len(seeds),
        steps=max(1, int(common.steps[-1])),
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


def at_common_steps(curves: Sequence[Curve], every: int | None = None) -> CommonCurves:
    """The returns of all seeds at common steps.

    If all seeds have the same steps, these are kept. Otherwise, as for the episodes of a training,
    the return at each multiple of `every` is the mean over the interval that ends there, or the
    latest return before if the interval has none. If `every` is None, there are up to `POINTS`.
    """
    first = curves[0].steps
    if every is None and all(np.array_equal(curve.steps, first) for curve in curves):
        return CommonCurves(first, np.stack([curve.returns for curve in curves]), None)
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
    if not len(steps):
        steps = np.array([high])
    return CommonCurves(steps, np.stack([_averaged(c, steps, every) for c in curves]), every)


def _averaged(curve: Curve, steps: np.ndarray, every: int) -> np.ndarray:
    sums = np.concatenate([[0.0], np.cumsum(curve.returns)])
    before, until = (
        np.searchsorted(curve.steps, ends, side="right") for ends in (steps - every, steps)
    )
    numbers = until - before
    means = (sums[until] - sums[before]) / np.maximum(numbers, 1)
    return np.where(numbers > 0, means, curve.returns[until - 1])


def _round_number(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is not smaller."""
    power = 10 ** math.floor(math.log10(max(least, 1.0)))
    return next(int(factor * power) for factor in (1, 2, 5, 10) if factor * power >= least)


def _source(path: Path) -> _Source:
    """The format of a file, or of the files in a folder."""
    if path.is_dir():
        inside = {kind: sorted(path.glob(pattern)) for kind, pattern in _INSIDE.items()}
        kinds = [kind for kind, files in inside.items() if files]
        if len(kinds) != 1:
            has = " and ".join(kinds) or "no file"
            raise FreqdynaError(
                f"{str(path)!r} is a folder with {has} to import; it must have files of one of the "
                f"formats {', '.join(_INSIDE)}; of several seeds, name one file or folder each"
            )
        return _Source(kinds[0], inside[kinds[0]])
    if not path.is_file():
        raise FreqdynaError(f"files has {str(path)!r}, which does not exist")
    if path.name.startswith(EVENTS_PREFIX):
        return _Source(_EVENTS, [path])
    if path.suffix == ".npz":
        return _Source(_EVALUATIONS, [path])
    if path.suffix == ".csv":
        is_monitor = path.read_bytes()[:1] == b"#"
        return _Source(_MONITOR if is_monitor else _CSV, [path])
    raise FreqdynaError(
        f"files has {str(path)!r}; it must end in .csv or .npz, or begin with {EVENTS_PREFIX}"
    )


def _read(
    kind: str, sources: Sequence[_Source], columns: tuple[str, str, str], tag: str | None
) -> tuple[list[Curve], str | None, dict[str, Any]]:
    """The curves, the environment that the files name, and what was read of the files."""
    if kind == _CSV:
        files = [file for source in sources for file in source.files]
        return _csv_curves(files, columns), None, {"columns": list(columns)}
    curves: list[Curve] = []
    if kind == _EVALUATIONS:
        for source in sources:
            curves.append(_evaluations(source.files[0], len(curves)))
        return curves, None, {}
    if kind == _MONITOR:
        ids: set[str | None] = set()
        for source in sources:
            curve, env_id = _monitors(source.files, len(curves))
            curves.append(curve)
            ids.add(env_id)
        env = ids.pop() if len(ids) == 1 else None
        return curves, env, {"returns": TRAINING_RETURNS}
    for source in sources:
        curve, tag = _events(source.files, len(curves), tag)  # the same tag for all seeds
        curves.append(curve)
    details = {"tag": tag} | ({"returns": TRAINING_RETURNS} if tag in TRAINING_TAGS else {})
    return curves, None, details


def _csv_curves(paths: Sequence[Path], columns: tuple[str, str, str]) -> list[Curve]:
    """The curves in CSV files, which together have one row for each seed and step."""
    returns: dict[int, dict[int, float]] = {}
    for path in paths:
        for line, (seed, step, value) in _csv_rows(path, columns):
            for name, number in zip(columns, (seed, step), strict=False):
                _check_integer(path, line, name, number, 0)
            curve = returns.setdefault(int(seed), {})
            if int(step) in curve:
                raise FreqdynaError(
                    f"{path}, line {line}: {columns[0]} {int(seed)} has {columns[1]} {int(step)} "
                    "twice; it must have one row for each step"
                )
            curve[int(step)] = value
    return [
        Curve(seed, np.array(sorted(of)), np.array([of[step] for step in sorted(of)]))
        for seed, of in sorted(returns.items())
    ]


def _csv_rows(
    path: Path, columns: Sequence[str], comments: int = 0
) -> Iterator[tuple[int, list[float]]]:
    """The numbers in some columns of a CSV file, with their lines; what is not finite is NaN."""
    rows = csv.DictReader(_lines(path)[comments:])
    rows.fieldnames = [name.strip() for name in rows.fieldnames or ()]
    for name in columns:
        if name not in rows.fieldnames:
            has = ", ".join(rows.fieldnames) or "none"
            raise FreqdynaError(f"{path} has no column {name!r}; its columns are {has}")
    empty = True
    for row in rows:
        line, numbers, empty = comments + rows.line_num, [], False
        for name in columns:
            try:
                number = float(row[name])
            except (TypeError, ValueError):  # TypeError: the row is too short
                raise FreqdynaError(
                    f"{path}, line {line}: {name} is {shown(row[name])}; it must be a number"
                ) from None
            numbers.append(number if math.isfinite(number) else math.nan)
        yield line, numbers
    if empty:
        raise FreqdynaError(f"{path} has no rows below its header")


def _check_integer(path: Path, line: int, name: str, number: float, least: int) -> None:
    if not (number.is_integer() and least <= number < 2**53):
        raise FreqdynaError(
            f"{path}, line {line}: {name} is {number:g}; it must be an integer, {least} or greater"
        )


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FreqdynaError(f"{path} is not a text file") from None


def _evaluations(path: Path, seed: int) -> Curve:
    """The mean returns of evaluations that EvalCallback of Stable-Baselines3 wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            steps, results = np.asarray(file["timesteps"]), np.asarray(file["results"])
    except (KeyError, OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile):
        # NumPy's advice for objects, to allow pickles, would let the file run code.
        raise FreqdynaError(
            f"{path} is not evaluations.npz of Stable-Baselines3: it must have the numeric arrays "
            "timesteps and results"
        ) from None
    if (
        steps.ndim != 1
        or results.ndim not in (1, 2)
        or len(steps) != len(results)
        or results.size == 0
        or steps.dtype.kind not in "iu"
        or results.dtype.kind not in "iuf"
    ):
        raise FreqdynaError(
            f"{path} has timesteps of shape {steps.shape} and results of shape {results.shape}; "
            "they must be numbers of shapes (evaluations,) and (evaluations, episodes)"
        )
    if steps.min() < 0 or (np.diff(steps) <= 0).any():
        raise FreqdynaError(f"{path} has timesteps that do not increase; every step must be once")
    returns = results.reshape(len(steps), -1).astype(np.float64).mean(axis=1)
    return Curve(seed, steps.astype(np.int64), returns)


def _monitors(paths: Sequence[Path], seed: int) -> tuple[Curve, str | None]:
    """The returns of training episodes in the monitor files of one training.

    There is one file for each environment of the training. Their steps are counted together in the
    order of time, as Stable-Baselines3 does. The id of the environment is None if there is none.
    """
    episodes = []
    ids: set[str] = set()
    for path in paths:
        try:
            header = json.loads(_lines(path)[0].removeprefix("#"))
            start, env_id = float(header.get("t_start", 0.0)), header.get("env_id")
        except (ValueError, TypeError, AttributeError, IndexError):
            raise FreqdynaError(
                f"{path} is not a monitor file of Stable-Baselines3: its first line must be # and "
                "a JSON object"
            ) from None
        if env_id not in (None, "", "None"):  # of an environment without an id
            ids.add(str(env_id))
        for line, (time, length, value) in _csv_rows(path, ("t", "l", "r"), comments=1):
            _check_integer(path, line, "l", length, 1)
            episodes.append((start + time, length, value))
    _, lengths, returns = np.array(sorted(episodes, key=lambda episode: episode[0])).T
    steps = np.cumsum(lengths).astype(np.int64)
    return _sorted_curve(seed, steps, returns), ids.pop() if len(ids) == 1 else None


def _events(paths: Sequence[Path], seed: int, tag: str | None) -> tuple[Curve, str]:
    """The curve of one scalar in the event files of one training, and the name of the scalar."""
    scalars: dict[str, list[tuple[int, float]]] = {}
    for path in paths:
        for name, step, value in _scalars(path):
            scalars.setdefault(name, []).append((step, value))
    chosen = tag or next((known for known in TAGS if known in scalars), None)
    if chosen is None or chosen not in scalars:
        has = ", ".join(sorted(scalars)) or "none"
        raise FreqdynaError(
            f"tag is {'unset' if tag is None else repr(tag)}; it must be the name of a scalar in "
            f"{paths[0]}, which has {has}"
        )
    steps, values = zip(*scalars[chosen], strict=True)
    return _sorted_curve(seed, np.array(steps, np.int64), np.array(values, np.float64)), chosen


def _scalars(path: Path) -> Iterator[tuple[str, int, float]]:
    """The name, step and value of all scalars in an event file."""
    try:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
        from tensorboard.util import tensor_util
    except ImportError:
        raise FreqdynaError(
            f"TensorBoard event files need the extra 'tensorboard': {installing('tensorboard')}"
        ) from None
    try:
        for event in EventFileLoader(str(path)).Load():
            for value in event.summary.value:
                # The loader has converted simple values to tensors.
                if value.metadata.plugin_data.plugin_name in ("", "scalars"):
                    number = tensor_util.make_ndarray(value.tensor)
                    if number.size == 1 and number.dtype.kind in "biuf":
                        yield value.tag, event.step, float(number.item())
    except Exception as error:  # a damaged file fails in more ways than can be listed
        raise FreqdynaError(
            f"{path} cannot be read as a TensorBoard event file: {type(error).__name__}"
        ) from None


def _sorted_curve(seed: int, steps: np.ndarray, returns: np.ndarray) -> Curve:
    """A curve of points in any order; several returns at one step are averaged."""
    order, place = np.unique(steps, return_inverse=True)
    sums = np.bincount(place, weights=returns, minlength=len(order))
    return Curve(seed, order, sums / np.bincount(place, minlength=len(order)))


def _env_name(env: str, kind: str) -> str:
    """The name of the environment of some files, as `env_label` would write it.

    Stable-Baselines3 and CleanRL train in Gymnasium's environments, whose episode limit may differ
    from that of the built-in one of the same name. A CSV file may come from either.
    """
    limit = None if kind == _CSV or env not in ENVIRONMENTS else _gymnasiums_limit(env)
    named = re.fullmatch(r"(.+) \(([1-9]\d{0,8}) steps\)", env)
    if named is not None and named[1] in ENVIRONMENTS:  # the limit was given
        env, limit = named[1], int(named[2])
    return env_label(Config.of({"env": {"name": env, "episode_limit": limit}}))


def _gymnasiums_limit(env: str) -> int | None:
    import gymnasium

    spec = gymnasium.registry.get(env)
    return None if spec is None else spec.max_episode_steps


def _default_name(path: Path, kind: str) -> str:
    """A name from the file, or from the folder if its files always have the same names."""
    named = path if path.is_dir() else path.with_suffix("") if kind == _CSV else path.parent
    return named.absolute().name or "curves"
