"""Checkpoints: the complete state of a run in one file, written atomically, read as plain data.

A checkpoint is an uncompressed `.npz` archive of arrays, read with pickle disabled: nothing in it
can be executed. The archive has a checksum for each array, so that a damaged file is detected.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.core.arrays import load_arrays, save_arrays
from freqdyna.core.errors import FreqdynaError

KEPT = 2


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
    save_arrays(path, arrays | {f"curve.{name}": curve for name, curve in curves.items()}, note)


def load(path: Path, like: Any) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    """Read a checkpoint.

    Args:
        path: The file.
        like: A pytree of arrays, or of their shapes, with the structure of the state.

    Returns:
        The state, the curves by name, and the note.

    """
    arrays, note = load_arrays(path)
    leaves = []
    expected = jax.eval_shape(lambda tree: jax.tree.map(_numbers, tree), like)
    for name, leaf in _named_leaves(expected):
        array = arrays.get(f"state{name}")
        if array is None or (array.shape, array.dtype) != (leaf.shape, leaf.dtype):
            raise FreqdynaError(f"{path} does not fit its run: {name[1:]} differs")
        leaves.append(array)
    rebuilt = [
        jax.random.wrap_key_data(jnp.asarray(array)) if _is_key(leaf) else array
        for array, leaf in zip(leaves, jax.tree.leaves(like), strict=True)
    ]
    curves = {name[6:]: array for name, array in arrays.items() if name.startswith("curve.")}
    return jax.tree.unflatten(jax.tree.structure(like), rebuilt), curves, note


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a run folder, newest first."""
    return sorted(folder.glob("checkpoint-*.npz"), reverse=True)


def checkpoint_path(folder: Path, step: int) -> Path:
    """The path of the checkpoint after `step` steps."""
    return folder / f"checkpoint-{step:010d}.npz"


def prune(folder: Path) -> None:
    """Remove all checkpoints except the newest."""
    for path in checkpoints(folder)[KEPT:]:
        path.unlink()


def set_aside(path: Path) -> None:
    """Rename a damaged checkpoint, so that it is neither tried again nor counted as a good one."""
    path.rename(path.with_name(f"damaged-{path.name}"))


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _numbers(leaf: Any) -> Any:
    """A random key as its data; anything else unchanged."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """Each leaf with its path in the tree."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in leaves]
