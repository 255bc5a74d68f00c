"""What the Dyna agent carries from step to step, and what it is told of each step."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.agents.base import AgentState
from freqdyna.agents.diagnostics import Diagnostics
from freqdyna.agents.dyna.queue import Queue
from freqdyna.agents.dyna.visited import Visited
from freqdyna.agents.learners.base import LearnerState


class DynaState(AgentState):
    """All that one seed's training carries from step to step."""

    key: PRNGKeyArray
    """The seed's training stream; constant, folded with the time of each step."""
    observation: Float[Array, " n"]
    episode_step: Int[Array, ""]
    learner: LearnerState
    """The state of the agent's `Learner`."""
    replay: Any
    """The state of the agent's `Replay` (the paper's B)."""
    queue: Queue | None
    """The search-control queue (B_s); None without a search-control, like the next two."""
    visited: Visited | None
    model: Any
    """The state of the agent's `Model`."""
    diagnostics: Diagnostics


class Experience(eqx.Module):
    """What came of an action."""

    reward: Float[Array, ""]
    next_state: Float[Array, " n"]
    terminal: Bool[Array, ""]
    over: Bool[Array, ""]
    """Whether the episode ended here, by termination or by its time limit."""
    observation: Float[Array, " n"]
    """Where to go on from: the next state, or the start of a new episode."""
