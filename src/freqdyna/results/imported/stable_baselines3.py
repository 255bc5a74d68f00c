"""Curves in files of Stable-Baselines3: evaluations.npz of EvalCallback, and monitor files."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.imported.csv_files import csv_numbers, read_lines
from freqdyna.results.imported.curves import Curve, sorted_curve

_EPISODE = ("t", "l", "r")
"""The columns of a monitor file: seconds since its start, length and return of an episode."""


def read_evaluations(path: Path, seed: int) -> Curve:
    """The mean returns of evaluations that EvalCallback wrote, as one seed."""
    if not zipfile.is_zipfile(path):
        raise FreqdynaError(
            f"{path} cannot be read as evaluations.npz: it is not a file of NumPy arrays"
        )
    try:
        with np.load(path, allow_pickle=False) as file:
            steps, results = np.asarray(file["timesteps"]), np.asarray(file["results"])
    except KeyError as error:
        raise FreqdynaError(
            f"{path} has no array {error.args[0].split(' ')[0]}; evaluations.npz of "
            "Stable-Baselines3 has timesteps and results"
        ) from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        # NumPy's advice for objects, to allow pickles, would let the file run code.
        why = "it has objects instead of numbers" if "pickle" in str(error) else error
        raise FreqdynaError(f"{path} cannot be read as evaluations.npz: {why}") from None
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


def read_monitors(paths: Sequence[Path], seed: int) -> tuple[Curve, str | None]:
    """The returns of training episodes in the monitor files of one training.

    Args:
        paths: One file for each environment of the training, whose steps are counted together in
            the order of time, as Stable-Baselines3 does.
        seed: The seed of the curve.

    Returns:
        The curve, and the id of the environment if the files have it.

    """
    episodes = []
    ids: dict[str, None] = {}
    for path in paths:
        header = _header(path)
        if header.get("env_id") not in (None, "", "None"):  # of an environment without an id
            ids[str(header["env_id"])] = None
        start = float(header.get("t_start", 0.0))
        for line, (time, length, value) in csv_numbers(path, _EPISODE, comments=1):
            if not (length.is_integer() and length >= 1):
                raise FreqdynaError(
                    f"{path}, line {line}: l is {length:g}; it must be an integer, 1 or greater"
                )
            episodes.append((start + time, length, value))
    _, lengths, returns = np.array(sorted(episodes, key=lambda episode: episode[0])).T
    steps = np.cumsum(lengths).astype(np.int64)
    return sorted_curve(seed, steps, returns), next(iter(ids)) if len(ids) == 1 else None


def is_monitor(path: Path) -> bool:
    """Whether a file is a monitor file: its first line is a comment."""
    with open(path, "rb") as file:
        return file.read(1) == b"#"


def _header(path: Path) -> dict[str, Any]:
    """The first line of a monitor file, which is JSON after the character #."""
    lines = read_lines(path)
    try:
        header = json.loads(lines[0].removeprefix("#"))
        if not isinstance(header, dict) or not isinstance(header.get("t_start", 0.0), int | float):
            raise ValueError
    except (ValueError, IndexError, RecursionError):
        raise FreqdynaError(
            f"{path} is not a monitor file of Stable-Baselines3: its first line must be # and a "
            "JSON object"
        ) from None
    return header
