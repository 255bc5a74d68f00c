"""Checkpoints: the complete state of a run in one file, written atomically, read as plain data.

A checkpoint is an uncompressed `.npz` archive of arrays, read with pickle disabled: nothing in it
can be executed. It has checksums, and must agree with its run, so that a file that is damaged, or
was moved from another run, is never continued from.
"""

import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.config import Config
from freqdyna.core.arrays import load_arrays, save_arrays
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.results.record import evaluation_steps

KEPT = 2
_CURVE = "curve."
"""The prefix of the names of curves among the arrays."""


class ForeignCheckpointError(FreqdynaError):
    """A checkpoint was written by a run with other settings."""


@dataclass(frozen=True)
class RunCheckpoint:
    """A checkpoint of a run, checked against its configuration."""

    step: int
    """The number of steps that every seed has taken."""
    state: Any
    """What `Block.to_checkpoint` returned."""
    curves: list[dict[str, np.ndarray]]
    """The metrics of each evaluation so far, each of shape (seeds,)."""
    facts: dict[str, Any]
    """What `Block.facts` returned."""
    device_kind: str
    devices: int


def save(path: Path, state: Any, curves: dict[str, np.ndarray], note: dict[str, Any]) -> None:
    """Write a checkpoint.

    Args:
        path: The file.
        state: The training state, a pytree of arrays and random keys.
        curves: The curves so far, by name.
        note: Anything that JSON can represent.

    """
    numbers = jax.tree.map(_numbers, state)
    arrays = {f"state{name}": np.asarray(leaf) for name, leaf in _named_leaves(numbers)}
    save_arrays(path, arrays | {f"{_CURVE}{name}": curve for name, curve in curves.items()}, note)


def save_run(folder: Path, config: Config, saved: RunCheckpoint) -> None:
    """Write a checkpoint of a run to its folder.

    Args:
        folder: The run folder.
        config: The configuration of the run.
        saved: The checkpoint.

    """
    names = saved.curves[0] if saved.curves else {}
    curves = {name: np.stack([row[name] for row in saved.curves]) for name in names}
    note = {"step": saved.step, "config": asdict(config), "facts": saved.facts}
    note |= {"devices": saved.devices, "device_kind": saved.device_kind}
    save(checkpoint_path(folder, saved.step), saved.state, curves, note)


def load(path: Path, like: Any) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    """Read a checkpoint.

    Args:
        path: The file.
        like: A pytree of arrays, or of their shapes, with the structure of the state.

    Returns:
        The state, the curves by name, and the note.

    """
    arrays, note = load_arrays(path)
    return _state(path, arrays, like), _curves(arrays), note


def load_run(path: Path, config: Config, like: Any) -> RunCheckpoint:
    """Read a checkpoint of a run.

    Args:
        path: The file.
        config: The configuration of the run.
        like: See `load`.

    Returns:
        The checkpoint, which agrees with its name and with the configuration.

    Raises:
        DamagedFileError: If the file is damaged, or its entries contradict each other.
        ForeignCheckpointError: If it belongs to a run with other settings.
        FreqdynaError: If it was written by another version.

    """
    arrays, note = load_arrays(path)
    try:
        if not belongs_to(note, config):
            raise ForeignCheckpointError(
                f"{path} belongs to a run with other settings than config.toml"
            )
        step = step_of(note, config)
        if path.name != checkpoint_path(path.parent, step).name:
            raise DamagedFileError(f"its step, {step}, is not the one in its name")
        curves = _curves(arrays)
        rows = _evaluations(curves, step, config)
        devices, kind, facts = (note.get(k) for k in ("devices", "device_kind", "facts"))
        facts = {} if facts is None else facts
        if type(devices) is not int or not isinstance(kind, str) or not isinstance(facts, dict):
            raise DamagedFileError("its note is not complete")
        _check_ended(facts, config)
    except DamagedFileError as error:
        raise DamagedFileError(f"{path} is damaged ({error})") from None
    by_evaluation = [{name: values[i] for name, values in curves.items()} for i in range(rows)]
    return RunCheckpoint(step, _state(path, arrays, like), by_evaluation, facts, kind, devices)


def step_of(note: dict[str, Any], config: Config) -> int:
    """The step in the note of a checkpoint; raises DamagedFileError if it is not possible."""
    step = note.get("step")
    if type(step) is not int or not 0 <= step <= config.steps:
        raise DamagedFileError(f"its step is not an integer from 0 to {config.steps:,}")
    return step


def belongs_to(note: dict[str, Any], config: Config) -> bool:
    """Whether a checkpoint with this note was written by a run with these settings."""
    saved = note.get("config")
    if not isinstance(saved, dict):
        raise DamagedFileError("its settings are missing")
    try:
        return Config.of(saved) == config
    except FreqdynaError:  # settings of a later version, for example
        return False


def _evaluations(curves: dict[str, np.ndarray], step: int, config: Config) -> int:
    """The number of evaluations in curves, which must be possible after `step` steps."""
    if not curves:
        rows = 0
    elif not {"return", "diverged_at"} <= curves.keys():
        raise DamagedFileError("it lacks curves")
    else:
        rows = len(curves["return"]) if curves["return"].ndim else 0
    for name, values in curves.items():
        if values.shape != (rows, config.seeds) or values.dtype.kind not in "biuf":
            raise DamagedFileError(
                f"its curve {name!r} has shape {values.shape} and type {values.dtype}"
            )
    evaluated = evaluation_steps(config.steps, config.eval_every)
    # The evaluation at this step itself may follow.
    if not np.sum(evaluated < step) <= rows <= np.sum(evaluated <= step):
        raise DamagedFileError(f"it has {rows} evaluations at step {step:,}")
    return rows


def _check_ended(facts: dict[str, Any], config: Config) -> None:
    """Raise DamagedFileError if the seeds that stopped early, and why, are not valid."""
    ended, first = facts.get("ended", {}), config.first_seed
    valid = isinstance(ended, dict) and all(
        re.fullmatch(r"\d{1,10}", seed)
        and first <= int(seed) < first + config.seeds
        and isinstance(fact, dict)
        and type(fact.get("step")) is int
        and isinstance(fact.get("reason"), str)
        for seed, fact in ended.items()
    )
    if not valid:
        raise DamagedFileError("its list of seeds that stopped is not valid")


def _curves(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    curves = {name: array for name, array in arrays.items() if name.startswith(_CURVE)}
    return {name.removeprefix(_CURVE): array for name, array in curves.items()}


def _state(path: Path, arrays: dict[str, np.ndarray], like: Any) -> Any:
    """The state in a checkpoint, with the structure of `like`."""
    leaves = []
    expected = jax.eval_shape(lambda tree: jax.tree.map(_numbers, tree), like)
    for name, leaf in _named_leaves(expected):
        array = arrays.get(f"state{name}")
        if array is None or (array.shape, array.dtype) != (leaf.shape, leaf.dtype):
            raise FreqdynaError(f"{path} does not fit its run: {name[1:]} differs")
        leaves.append(array)
    rebuilt = [
        jax.random.wrap_key_data(jnp.asarray(array), impl=_key_impl(leaf))
        if _is_key(leaf)
        else array
        for array, leaf in zip(leaves, jax.tree.leaves(like), strict=True)
    ]
    return jax.tree.unflatten(jax.tree.structure(like), rebuilt)


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a run folder, newest first."""
    return sorted(folder.glob("checkpoint-*.npz"), reverse=True)


def checkpoint_path(folder: Path, step: int) -> Path:
    """The path of the checkpoint after `step` steps."""
    return folder / f"checkpoint-{step:010d}.npz"


def prune(folder: Path) -> None:
    """Remove all checkpoints except the newest."""
    for path in checkpoints(folder)[KEPT:]:
        with suppress(OSError):  # one that is left does no harm
            path.unlink()


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _key_impl(leaf: Any) -> Any:
    """The random number generator of keys, or of their shapes."""
    found: list[Any] = []
    jax.eval_shape(lambda keys: found.append(jax.random.key_impl(keys)), leaf)
    return found[0]


def _numbers(leaf: Any) -> Any:
    """A random key as its data; anything else unchanged."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """Each leaf with its path in the tree."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in leaves]
