"""Saving a run: when and how, the newest checkpoint that can be read, and where a run begins.

A checkpoint is an `.npz` archive with everything that a run needs to continue as if it had not been
interrupted: the state of all seeds, the evaluations and the snapshots so far.
"""

import hashlib
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.agents.dyna.agent import Dyna
from freqdyna.config import Config
from freqdyna.core.errors import DamagedFileError, FreqdynaError, RunFailedError, installing
from freqdyna.core.files import load_arrays, save_arrays
from freqdyna.results.folder import encode, snapshot_arrays, snapshots_in, write
from freqdyna.results.record import Record, Snapshots
from freqdyna.training.progress import Progress

KEPT = 2
"""The number of checkpoints that a run folder keeps."""
_CURVE = "curve."
"""The prefix of the names of curves among the arrays."""


@dataclass(frozen=True)
class RunOptions:
    """How a run is saved and where its numbers are sent; this does not affect its results."""

    checkpoint_seconds: float = 60.0
    tensorboard: bool = False
    wandb: bool = False

    def __post_init__(self) -> None:
        seconds = self.checkpoint_seconds
        if not isinstance(seconds, int | float) or not seconds >= 0:
            raise FreqdynaError(f"checkpoint_seconds is {seconds!r}; it must be 0 or greater")
        if self.tensorboard and find_spec("tensorboardX") is None:
            raise FreqdynaError(f"tensorboard is True; it needs: {installing('tensorboard')}")
        if self.wandb and "wandb" not in sys.modules and find_spec("wandb") is None:
            raise FreqdynaError(f"wandb is True; it needs: {installing('wandb')}")


@dataclass(frozen=True)
class Checkpoint:
    """A run after some of its steps."""

    step: int
    """The number of steps that every seed has taken."""
    state: Any
    """What `Block.to_checkpoint` returned."""
    evaluations: list[dict[str, np.ndarray]]
    """The metrics of each evaluation so far, each of shape (seeds,)."""
    snapshots: Snapshots
    """The snapshots so far, by step."""
    facts: dict[str, Any]
    """What `Block.facts` returned."""
    devices: str
    """The devices that computed it."""
    seconds: float
    """Wall-clock time of these steps."""


class Saver:
    """Saves a run to its folder every so many seconds or on demand; does nothing without a folder.

    All files that are complete remain in place if a file cannot be written. `again` says how to
    resume the run, for messages.
    """

    def __init__(self, folder: Path | None, seconds: float, again: str) -> None:
        self.folder, self._seconds, self.again = folder, seconds, again
        self._last = time.monotonic()
        self._warning: str | None = None

    def is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self.folder is not None and time.monotonic() - self._last >= self._seconds

    def save(
        self, record: Record, checkpoint: Checkpoint | None, progress: Progress | None = None
    ) -> None:
        """Write a checkpoint, if there is one, and the results so far.

        A failure, such as a full disk, is a warning to `progress`; without it, an error.
        """
        self._last = time.monotonic()
        if self.folder is None:
            return
        try:
            if checkpoint is not None:
                save_run(self.folder, checkpoint)
            if len(record.steps):
                write(self.folder, encode(record))
            self._warning = None
        except OSError as error:
            text = f"the run could not be saved in {str(self.folder)!r}: {error.strerror or error}"
            if progress is None:
                then = f"; continue with: {self.again}" if self.folder.is_dir() else ""
                raise RunFailedError(text + then) from None
            if text != self._warning:
                progress.warn(f"{text}; it continues, and tries again at the next checkpoint")
            self._warning = text


def save_run(folder: Path, saved: Checkpoint) -> None:
    """Write a checkpoint of a run to its folder, and remove the oldest ones."""
    names = saved.evaluations[0] if saved.evaluations else {}
    curves = {name: np.stack([row[name] for row in saved.evaluations]) for name in names}
    curves |= snapshot_arrays(saved.snapshots)
    arrays = state_arrays(saved.state) | {f"{_CURVE}{name}": c for name, c in curves.items()}
    note = {
        "step": saved.step,
        "facts": saved.facts,
        "devices": saved.devices,
        "seconds": saved.seconds,
    }
    save_arrays(folder / f"checkpoint-{saved.step:010d}.npz", arrays, note)
    for path in checkpoints(folder)[KEPT:]:
        with suppress(OSError):  # one that is left does no harm
            path.unlink()


def load_run(path: Path, like: Any) -> Checkpoint:
    """Read a checkpoint of a run; see `state_in` for `like`. Raises DamagedFileError."""
    arrays, note = load_arrays(path)
    curves = {
        name.removeprefix(_CURVE): array
        for name, array in arrays.items()
        if name.startswith(_CURVE)
    }
    metrics = {name: values for name, values in curves.items() if "/" not in name}
    rows = len(next(iter(metrics.values()), ()))
    try:
        state = state_in(arrays, like)
    except ValueError as error:
        raise FreqdynaError(f"{path} does not fit its run: {error}") from None
    return Checkpoint(
        step=note["step"],
        state=state,
        evaluations=[{name: values[i] for name, values in metrics.items()} for i in range(rows)],
        snapshots=snapshots_in(curves),
        facts=note["facts"],
        devices=note["devices"],
        seconds=note["seconds"],
    )


def newest(folder: Path, like: Any) -> tuple[Checkpoint | None, list[str]]:
    """The newest checkpoint that can be read, and warnings; damaged files are set aside."""
    warnings: list[str] = []
    for path in checkpoints(folder):
        try:
            return load_run(path, like), warnings
        except DamagedFileError as error:
            renamed = path.rename(path.with_name(f"damaged-{path.name}"))  # not to be read again
            warnings.append(f"{error}; it was renamed to {renamed.name}; trying the one before it")
    if warnings:
        warnings.append("no checkpoint could be read: starting from the first step")
    return None, warnings


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a run folder, newest first."""
    return sorted(folder.glob("checkpoint-*.npz"), reverse=True)


def initial_parameters(source: Record, config: Config, agent: Dyna) -> np.ndarray:
    """The trained parameters of another run, with which the seeds of a run begin: (seeds, p).

    A seed begins with the parameters of the same seed, or all of them with those of the only seed.
    """
    source.require_agent()
    if agent.scale_observations:
        raise FreqdynaError(
            "init_from is set, but scale_observations is True; it must be False, because the scale "
            "is not known before the run"
        )
    flat = jax.eval_shape(lambda key: agent.parameters(agent.init(key)), jax.random.key(0))
    names = "learner.activation", "learner.layer_norm"
    theirs = source.parameters.shape[1], source.layer_sizes, *map(source.config.get, names)
    ours = flat.shape[0], agent.learner.sizes, *map(config.get, names)
    if theirs != ours:
        raise FreqdynaError(
            f"init_from has {theirs[0]:,} parameters of layers {theirs[1]} with {theirs[2]} and "
            f"layer_norm {theirs[3]}; it must have {ours[0]:,} of layers {ours[1]} with {ours[2]} "
            f"and layer_norm {ours[3]}"
        )
    seeds = np.arange(config.first_seed, config.first_seed + config.seeds)
    if len(source.seeds) == 1:
        chosen = np.repeat(source.parameters, len(seeds), axis=0)
    elif np.isin(seeds, source.seeds).all():
        chosen = source.parameters[[source.row(seed) for seed in seeds]]
    else:
        raise FreqdynaError(
            f"init_from has the seeds {source.seeds.tolist()}; it must have those of the run, "
            f"{seeds.tolist()}, or only one"
        )
    if not np.isfinite(chosen).all():
        raise FreqdynaError("init_from has a seed that diverged: its parameters are not finite")
    return chosen


def source_facts(source: Record, parameters: np.ndarray) -> dict[str, Any]:
    """What the provenance says about the run with whose parameters another one begins."""
    return {
        "algorithm": source.config.agent_name,
        "env": source.env_name,
        "steps": int(source.steps[-1]),
        "seeds": source.seeds.tolist(),
        "sha256": hashlib.sha256(np.ascontiguousarray(parameters).tobytes()).hexdigest(),
    }


def state_arrays(state: Any) -> dict[str, np.ndarray]:
    """The leaves of a pytree of arrays and random keys, by their paths."""
    return {
        name: _without_empty_rows(np.asarray(leaf))
        for name, leaf in _named_leaves(jax.tree.map(_numbers, state))
    }


def state_in(arrays: dict[str, np.ndarray], like: Any) -> Any:
    """The inverse of `state_arrays`; raises a ValueError for a leaf that differs from `like`.

    `like` is a pytree of arrays, or of their shapes, with the structure of the state.
    """
    expected = jax.eval_shape(lambda tree: jax.tree.map(_numbers, tree), like)
    leaves = []
    for (name, leaf), original in zip(_named_leaves(expected), jax.tree.leaves(like), strict=True):
        array = arrays.get(name)
        if array is not None and array.ndim == leaf.ndim > 2:
            missing = leaf.shape[1] - array.shape[1]
            array = np.pad(array, [(0, 0), (0, max(missing, 0)), *[(0, 0)] * (array.ndim - 2)])
        if array is None or (array.shape, array.dtype) != (leaf.shape, leaf.dtype):
            raise ValueError(f"{name} differs")
        if _is_key(original):
            array = jax.random.wrap_key_data(jnp.asarray(array), impl=_key_impl(original))
        leaves.append(array)
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _without_empty_rows(array: np.ndarray) -> np.ndarray:
    """An array over seeds and rows without the rows at its end whose bits are zero in all seeds.

    A replay buffer of which most is empty would otherwise fill the disk.
    """
    if array.ndim < 3 or array.dtype.itemsize not in (1, 2, 4, 8):
        return array
    bits = array.view(f"u{array.dtype.itemsize}")  # the sign of -0.0 counts, too
    used = np.flatnonzero(bits.any(axis=(0, *range(2, array.ndim))))
    return array[:, : used.max(initial=-1) + 1]


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _key_impl(leaf: Any) -> Any:
    """The random number generator of keys, or of their shapes."""
    impl: list[Any] = []
    jax.eval_shape(lambda keys: impl.append(jax.random.key_impl(keys)), leaf)
    return impl[0]


def _numbers(leaf: Any) -> Any:
    """A random key as its data; anything else unchanged."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """Each leaf with its path in the tree."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [(f"state{jax.tree_util.keystr(path)}", leaf) for path, leaf in leaves]
