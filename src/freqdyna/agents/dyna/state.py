"""The state of the Dyna agent: statistics of visited states, the queue, and samples of buffers."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped, UInt32

from freqdyna.agents.dyna.diagnostics import Diagnostics
from freqdyna.agents.learners import LearnerState
from freqdyna.agents.replay import ReplayState, uniform_indices
from freqdyna.envs.space import Space, Transition
from freqdyna.search_control.base import Proposal


class Visited(eqx.Module):
    """Mean, covariance, mean step and range of visited states, one by one (Welford's method)."""

    count: Float[Array, ""]
    mean: Float[Array, " n"]
    scatter: Float[Array, "n n"]
    """Sum of the outer products of the deviations from the mean."""
    mean_step: Float[Array, ""]
    """Mean of ‖s_{t+1} − s_t‖₂/√n (the paper's ε_a)."""
    low: Float[Array, " n"]
    high: Float[Array, " n"]
    """The smallest and the largest value of each coordinate so far."""

    @staticmethod
    def empty(n: int) -> "Visited":
        """The statistics before the first state."""
        far = jnp.full(n, jnp.inf, float)  # an explicit type: a weak type causes recompilation
        return Visited(jnp.zeros(()), jnp.zeros(n), jnp.zeros((n, n)), jnp.zeros(()), far, -far)

    def add(self, state: Float[Array, " n"], next_state: Float[Array, " n"]) -> "Visited":
        """Add a state and the step from it to the next state."""
        count = self.count + 1
        deviation = state - self.mean
        mean = self.mean + deviation / count
        step = jnp.linalg.norm(next_state - state) / jnp.sqrt(state.shape[0])
        return Visited(
            count,
            mean,
            self.scatter + jnp.outer(deviation, state - mean),
            self.mean_step + (step - self.mean_step) / count,
            jnp.minimum(self.low, state),
            jnp.maximum(self.high, state),
        )

    def covariance(self) -> Float[Array, "n n"]:
        """The empirical covariance; zero before the second state."""
        return self.scatter / jnp.maximum(self.count - 1, 1)


class Queue(eqx.Module):
    """The search-control queue (the paper's B_s): a ring of states, or state-action pairs."""

    rows: Float[Array, "capacity n"]
    count: Int[Array, ""]
    """States added so far; it differs between seeds, because a search may find fewer than m."""
    actions: Shaped[Array, "capacity ..."] | None = None
    """The action of each state, if the search-control proposes pairs."""

    @staticmethod
    def empty(capacity: int, space: Space, with_actions: bool = False) -> "Queue":
        """A queue without states, or without state-action pairs."""
        actions = None
        if with_actions:
            shape = () if space.num_actions else (space.action_size,)
            actions = jnp.zeros((capacity, *shape), int if space.num_actions else float)
        rows = jnp.zeros((capacity, space.observation_size))
        return Queue(rows, jnp.zeros((), int), actions)

    def is_empty(self) -> Bool[Array, ""]:
        """Whether no state has been added yet."""
        return self.count == 0

    def add(self, proposal: Proposal, space: Space) -> "Queue":
        """Add the states of `Proposal.stored`."""
        capacity, stored = self.rows.shape[0], proposal.stored(space)
        order = jnp.cumsum(stored) - 1  # among the stored states
        places = jnp.where(stored, (self.count + order) % capacity, capacity)
        rows = self.rows.at[places].set(proposal.states, mode="drop")
        # Avoid overflow; once the queue is full only the count modulo the capacity matters.
        count = self.count + stored.sum()
        actions = self.actions
        if actions is not None:
            actions = actions.at[places].set(proposal.actions, mode="drop")
        return Queue(rows, jnp.where(count >= 2 * capacity, count - capacity, count), actions)

    def sample(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """Sample k states uniformly with replacement; zeros while the queue is empty."""
        return self.rows[self._sampled(bits)]

    def sample_actions(self, bits: UInt32[Array, " k"]) -> Shaped[Array, "k ..."]:
        """The actions of the states that `sample` returns for the same bits."""
        assert self.actions is not None
        return self.actions[self._sampled(bits)]

    def _sampled(self, bits: UInt32[Array, " k"]) -> Int[Array, " k"]:
        return uniform_indices(bits, jnp.clip(self.count, 1, self.rows.shape[0]))


class Burst(eqx.Module):
    """A random action that is repeated."""

    action: Int[Array, ""]
    left: Int[Array, ""]
    """How many more steps it lasts; 0 for a greedy action."""


class DynaState(eqx.Module):
    """The training state of one seed."""

    key: PRNGKeyArray
    """The seed's random key; constant, and folded with the time of each step."""
    observation: Float[Array, " n"]
    episode_step: Int[Array, ""]
    learner: LearnerState
    """The state of the agent's `Learner`."""
    replay: ReplayState
    """The replay buffer (the paper's B)."""
    queue: Queue | None
    """The search-control queue (B_s); None without a search-control, like the next two fields."""
    visited: Visited | None
    model: Any
    """The state of the agent's `Model`."""
    diagnostics: Diagnostics
    memory: Any = None
    """The memory of the search-control, if it has one."""
    trust: Any = None
    """The state of the agent's `Trust`."""
    burst: Burst | None = None
    """The random action of now, if such actions are repeated."""


class Experience(eqx.Module):
    """The outcome of an action."""

    reward: Float[Array, ""]
    next_state: Float[Array, " n"]
    terminal: Bool[Array, ""]
    over: Bool[Array, ""]
    """Whether the episode is over, by termination or truncation."""
    observation: Float[Array, " n"]
    """The state to act from next: the next state, or the first state of a new episode."""


@dataclass(frozen=True)
class Buffers:
    """Samples of the replay buffer and the queue of one seed at one time step.

    Every sample is a function of random bits, one word for each.
    """

    space: Space
    replay: ReplayState
    queue: Queue
    t: Int[Array, ""]
    """The number of steps taken before; the transition of this step is stored already."""

    def rows(self, bits: UInt32[Array, " k"]) -> Float[Array, "k width"]:
        """Packed transitions from the replay buffer; uniform, whatever their priorities are."""
        stored = self.replay.rows
        return stored[uniform_indices(bits, jnp.minimum(self.t + 1, len(stored)))]

    def visited(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """States from the replay buffer."""
        return self.rows(bits)[:, : self.space.observation_size]

    def transitions(self, bits: UInt32[Array, " k"]) -> Transition:
        """Transitions from the replay buffer, with k rows in every field."""
        continuous = len(self.space.action_low)
        return jax.vmap(lambda row: Transition.unpack(row, continuous))(self.rows(bits))

    def queued(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """States from the queue, or visited states while it is empty."""
        visited = self.visited(bits)
        return jnp.where(self.queue.is_empty(), visited, self.queue.sample(bits))

    def queued_actions(self, bits: UInt32[Array, " k"]) -> Shaped[Array, "k ..."]:
        """The actions of the states that `queued` returns for the same bits."""
        taken = self.transitions(bits).action
        return jnp.where(self.queue.is_empty(), taken, self.queue.sample_actions(bits))
