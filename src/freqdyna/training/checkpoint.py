"""Checkpoints: the complete state of a run in one file, written atomically, read as plain data.

A run resumes from its settings, its provenance and a checkpoint alone. A checkpoint is an `.npz`
archive, read with pickle disabled: nothing in it can be executed. A file that is damaged, or
belongs to another run, is never continued from.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.config import Config
from freqdyna.core.errors import DamagedFileError, FreqdynaError
from freqdyna.core.files import load_arrays, save_arrays
from freqdyna.results.folder import snapshot_arrays, snapshots_in
from freqdyna.results.record import Snapshots, evaluation_steps

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
    snapshots: Snapshots
    """The snapshots so far, by step."""


def save(
    path: Path,
    state: Any,
    curves: dict[str, np.ndarray],
    note: dict[str, Any],
    snapshots: Snapshots | None = None,
) -> None:
    """Write a checkpoint.

    Args:
        path: The file.
        state: The training state, a pytree of arrays and random keys.
        curves: The curves so far, by name.
        note: Anything that JSON can represent.
        snapshots: The snapshots so far, by step.

    """
    numbers = jax.tree.map(_numbers, state)
    arrays = {f"state{name}": np.asarray(leaf) for name, leaf in _named_leaves(numbers)}
    arrays |= {f"{_CURVE}{name}": curve for name, curve in curves.items()}
    save_arrays(path, arrays | snapshot_arrays(snapshots or {}), note)


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
    save(checkpoint_path(folder, saved.step), saved.state, curves, note, saved.snapshots)


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


def load_run(path: Path, config: Config, structure: Callable[[Config], Any]) -> RunCheckpoint:
    """Read a checkpoint of a run.

    Args:
        path: The file.
        config: The configuration of the run.
        structure: Gives the structure of the state, see `load`, for the configuration with which
            the checkpoint was written; the run may have been extended since then.

    Raises:
        DamagedFileError: If the file is damaged, or cannot be continued from.
        ForeignCheckpointError: If it belongs to a run with other settings.
        FreqdynaError: If it was written by another version.

    """
    arrays, note = load_arrays(path)
    if not belongs_to(note, config):
        raise ForeignCheckpointError(
            f"{path} belongs to a run with other settings than config.toml"
        )
    step, curves = note["step"], _curves(arrays)
    rows = len(curves["return"]) if curves else 0
    evaluated = evaluation_steps(config.steps, config.eval_every)
    # The evaluation at this step itself may follow; that of a run that was extended does not count.
    if not np.sum(evaluated < step) <= rows <= np.sum(evaluated <= step):
        raise DamagedFileError(f"{path} has {rows} evaluations at step {step:,}")
    return RunCheckpoint(
        step,
        _state(path, arrays, structure(Config.of(note["config"]))),
        [{name: values[i] for name, values in curves.items()} for i in range(rows)],
        note["facts"],
        note["device_kind"],
        note["devices"],
        snapshots_in(arrays),
    )


def belongs_to(note: dict[str, Any], config: Config) -> bool:
    """Whether a checkpoint was written by a run with these settings, before it was extended."""
    try:
        before = Config.of(note["config"])
    except FreqdynaError:  # settings of another version
        return False
    return before.steps <= config.steps and replace(before, steps=config.steps) == config


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
