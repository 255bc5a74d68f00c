"""Extending a run: its files become those of a run with more steps that was interrupted.

The result equals that of a run with that number of steps from the start, because only two things
depend on it: the capacity of the replay buffer, which need not be larger than the number of steps,
and whether the last step is evaluated.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from freqdyna.agents.dyna.dyna import Dyna
from freqdyna.config import Config
from freqdyna.core import checksums
from freqdyna.core.errors import DamagedFileError, FreqdynaError, RunFailedError
from freqdyna.core.files import write_atomically
from freqdyna.results import run_folder
from freqdyna.results.record import evaluation_steps
from freqdyna.results.rewriting import rewritten
from freqdyna.results.snapshot_files import read_snapshots, write_snapshots
from freqdyna.training import checkpoint
from freqdyna.training.checkpoint import RunCheckpoint
from freqdyna.training.run import Run


def extended_config(config: Config, steps: int) -> Config:
    """The settings of a run that is extended.

    Args:
        config: The settings of the run.
        steps: The new number of steps in total.

    Raises:
        FreqdynaError: If a run of that many steps could not begin as this one did.

    """
    longer = replace(config, steps=steps)
    if longer.steps < config.steps:
        raise FreqdynaError(
            f"steps is {steps}; it must be {config.steps} or greater, the steps of the run"
        )
    if longer != config and config.exploration_fraction > 0:
        raise FreqdynaError(
            f"steps is {steps}, but exploration_fraction is {config.exploration_fraction}: the "
            f"schedule of exploration depends on the number of steps, so a run of {steps} steps "
            "explores differently from its first step on; start a new one"
        )
    return longer


def extend(folder: Path, before: Config, run: Run) -> None:
    """Replace the files of a run by those of an interrupted run with more steps.

    Args:
        folder: The run folder, whose lock the caller holds.
        before: The settings of the run so far.
        run: The run with more steps.

    Raises:
        FreqdynaError: If no checkpoint is as it would be in a run with more steps.
        RunFailedError: If the files cannot be written; the run is then as it was.

    """
    saved = _grown(_last_checkpoint(folder, before, run), run)
    record = run_folder.read_record(folder) if run_folder.has_results(folder) else None
    facts = run_folder.read_provenance(folder, before)
    snapshots, _ = read_snapshots(folder, before, before.seeds, run_folder.has_checksums(folder))
    config = run.config
    try:
        with rewritten(folder) as staged:
            text = checksums.toml_with_checksum(config.to_toml()).encode()
            write_atomically(staged / run_folder.CONFIG, lambda file: file.write(text))
            run_folder.write_provenance(staged, config, facts)
            write_snapshots(staged, config, snapshots)
            checkpoint.save_run(staged, config, saved)
            if record is not None:
                kept = np.isin(record.steps, evaluation_steps(config.steps, config.eval_every))
                metrics = {name: values[:, kept] for name, values in record.metrics.items()}
                if kept.any():
                    run_folder.write_record(
                        staged,
                        replace(record, config=config, steps=record.steps[kept], metrics=metrics),
                    )
    except OSError as error:
        raise RunFailedError(
            f"the run in {str(folder)!r} could not be extended: {error.strerror or error}"
        ) from None


def _last_checkpoint(folder: Path, before: Config, run: Run) -> RunCheckpoint:
    """The newest checkpoint that a run with more steps would have, too."""
    like = _structure(run, before)
    for path in checkpoint.checkpoints(folder):
        try:
            saved = checkpoint.load_run(path, before, like)
        except DamagedFileError:
            continue
        if not _ends_with_own_evaluation(saved, before):
            return saved
    raise FreqdynaError(
        f"{str(folder)!r} has no checkpoint from which a run of {run.config.steps} steps could "
        "continue; start a new one"
    )


def _ends_with_own_evaluation(saved: RunCheckpoint, before: Config) -> bool:
    """Whether it contains an evaluation at the last step that longer runs do not have."""
    rows = len(evaluation_steps(before.steps, before.eval_every))
    return before.steps % before.eval_every != 0 and len(saved.curves) == rows


def _structure(run: Run, before: Config) -> Any:
    """The shapes of the state in a checkpoint of the run so far."""
    structure, agent = run.block.state_structure(), run.training.agent
    if not isinstance(agent, Dyna):
        return structure
    smaller: Any = replace(agent.replay, capacity=min(before.buffer_size, before.steps))
    state = structure["agent"] if isinstance(structure, dict) else structure
    width = state.replay.rows.shape[-1]
    empty = jax.eval_shape(lambda: smaller.init(width))
    of_each_seed = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((before.seeds, *leaf.shape), leaf.dtype), empty
    )
    return _with_replay(structure, of_each_seed)


def _grown(saved: RunCheckpoint, run: Run) -> RunCheckpoint:
    """The checkpoint with the replay buffer of the run with more steps."""
    agent = run.training.agent
    if not isinstance(agent, Dyna):
        return saved
    state = saved.state["agent"] if isinstance(saved.state, dict) else saved.state
    if state.replay.rows.shape[1] == agent.replay.capacity:
        return saved
    replay = jax.jit(jax.vmap(agent.replay.grown))(state.replay)
    return replace(saved, state=_with_replay(saved.state, replay))


def _with_replay(saved: Any, replay: Any) -> Any:
    """What `Block.to_checkpoint` returned, with another replay buffer."""
    if isinstance(saved, dict):
        return saved | {"agent": _with_replay(saved["agent"], replay)}
    return eqx.tree_at(lambda state: state.replay, saved, replay)
