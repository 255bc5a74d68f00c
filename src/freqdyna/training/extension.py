"""Extending a run: its settings get more steps, and it resumes from its last checkpoint.

The result equals that of a run with that number of steps from the start, because only two things
depend on it: the capacity of the replay buffer, which need not be larger than the number of steps,
and whether the last step is evaluated.
"""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax

from freqdyna.agents.base import Agent
from freqdyna.agents.dyna.dyna import Dyna
from freqdyna.agents.dyna.state import DynaState
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.training.seeds import Block


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


def state_structure(block: Block, agent: Agent[Any], before: Config) -> Any:
    """The shapes of the state in a checkpoint of a run that had these settings at that time."""
    structure = block.state_structure()
    capacity = min(before.buffer_size, before.steps)
    if not isinstance(agent, Dyna) or capacity == agent.replay.capacity:
        return structure
    smaller: Any = replace(agent.replay, capacity=capacity)
    state = structure["agent"] if isinstance(structure, dict) else structure
    width = state.replay.rows.shape[-1]
    empty = jax.eval_shape(lambda: smaller.init(width))
    of_each_seed = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((before.seeds, *leaf.shape), leaf.dtype), empty
    )
    return _with_replay(structure, of_each_seed)


def with_grown_replay(saved: Any, agent: Agent[Any]) -> Any:
    """What `Block.to_checkpoint` returned, with the replay buffer of a run with more steps."""
    state = saved["agent"] if isinstance(saved, dict) else saved
    if not isinstance(agent, Dyna) or not isinstance(state, DynaState):
        return saved
    if state.replay.rows.shape[1] == agent.replay.capacity:
        return saved
    return _with_replay(saved, jax.jit(jax.vmap(agent.replay.grown))(state.replay))


def _with_replay(saved: Any, replay: Any) -> Any:
    """What `Block.to_checkpoint` returned, with another replay buffer."""
    if isinstance(saved, dict):
        return saved | {"agent": _with_replay(saved["agent"], replay)}
    return eqx.tree_at(lambda state: state.replay, saved, replay)
