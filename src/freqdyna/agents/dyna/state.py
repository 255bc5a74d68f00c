"""The state of the Dyna agent, and the outcome of one step."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.base import AgentState
from freqdyna.agents.diagnostics import Diagnostics
from freqdyna.agents.dyna.queue import Queue
from freqdyna.agents.dyna.visited import Visited
from freqdyna.agents.learners.base import LearnerState


class DynaState(AgentState):
    """The training state of one seed."""

    key: PRNGKeyArray
    """The seed's random key; constant, and folded with the time of each step."""
    observation: Float[Array, " n"]
    episode_step: Int[Array, ""]
    learner: LearnerState
    """The state of the agent's `Learner`."""
    replay: Any
    """The state of the agent's `Replay` (the paper's B)."""
    queue: Queue | None
    """The search-control queue (B_s); None without a search-control, like the next two fields."""
    visited: Visited | None
    model: Any
    """The state of the agent's `Model`."""
    diagnostics: Diagnostics
    memory: Any = None
    """The memory of the search-control, if it has one."""


class Experience(eqx.Module):
    """The outcome of an action."""

    reward: Float[Array, ""]
    next_state: Float[Array, " n"]
    terminal: Bool[Array, ""]
    over: Bool[Array, ""]
    """Whether the episode is over, by termination or truncation."""
    observation: Float[Array, " n"]
    """The state to act from next: the next state, or the first state of a new episode."""
