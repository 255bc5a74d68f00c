"""The interface of a search-control: from a value function to states to plan from."""

import abc
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.frequency import Derivatives, Slopes

State = Float[Array, " n"]
Draw = Callable[[UInt32[Array, " k"]], Float[Array, "k n"]]
"""Samples states uniformly from a buffer, one for each word of random bits."""


@dataclass(frozen=True)
class Search:
    """Everything that a search-control can use, for one seed at one time step."""

    value: Callable[[State], Float[Array, ""]]
    """V(s) = max_a Q(s, a) of the current network."""
    derivatives: Callable[[State], Derivatives]
    """V, its gradient and its Hessian at a state, of the current network."""
    slopes: Slopes
    """From (state, η₁, η₂) to ∇g and ∇V with g = η₁‖∇V‖² + η₂‖H_V‖²_F; a fast implementation for
    climbing g."""
    target_slopes: Slopes
    """The same for the target network."""
    draw_visited: Draw
    draw_queue: Draw
    """What the methods `visited` and `queued` sample with."""
    queue_is_empty: Bool[Array, ""]
    low: Float[Array, " n"]
    high: Float[Array, " n"]
    """The bounds of the state space."""
    contains: Callable[[State], Bool[Array, ""]]
    """Whether a state belongs to the state space."""
    project: Callable[[State], State]
    """The nearest state in the state space."""
    terminal: Callable[[State], Bool[Array, ""]]
    """Whether a state is terminal."""
    covariance: Float[Array, "n n"]
    """Empirical covariance of the visited states (the paper's Σ̂)."""
    mean_step: Float[Array, ""]
    """Running mean of ‖s_{t+1} − s_t‖₂/√n (the paper's ε_a)."""
    on_manifold: Callable[[State], State] = lambda state: state
    """The nearest point of the manifold that states lie on; for most spaces the state itself."""

    def visited(self, key: PRNGKeyArray, count: int) -> Float[Array, "count n"]:
        """Sample states uniformly from the replay buffer (the paper's B).

        Args:
            key: A random key.
            count: The number of states.

        Returns:
            Shape (count, n).

        """
        return self.draw_visited(jax.random.bits(key, (count,), jnp.uint32))

    def queued(self, key: PRNGKeyArray, count: int) -> Float[Array, "count n"]:
        """Sample states uniformly from the search-control queue (B_s), like `visited`.

        While the queue is empty, visited states are returned.
        """
        return self.draw_queue(jax.random.bits(key, (count,), jnp.uint32))


class ClimbPath(eqx.Module):
    """The states of all climbs of a search, one per iteration."""

    states: Float[Array, "limit n"]
    climbs: Int[Array, " limit"]
    """The index of the climb that the state belongs to; −1 where there is no state."""
    rules: Int[Array, " limit"]
    """Which of the search-control's directions that climb follows."""


class Proposal(eqx.Module):
    """The states that a search-control found, and statistics of its search."""

    states: Float[Array, "m n"]
    count: Int[Array, ""]
    """Only the first `count` states are valid."""
    iterations: Int[Array, ""]
    """The number of climbing steps."""
    restarts: Int[Array, ""]
    """The number of climbs after the first."""
    vanished: Int[Array, ""]
    """Steps whose direction was zero or not finite, so that only noise moved the state."""
    path: ClimbPath | None = None
    """Recorded only if `HillClimb.traced` is set."""

    def proposed(self) -> Bool[Array, " m"]:
        """Which states are proposed: the first `count`."""
        return jnp.arange(self.states.shape[0]) < self.count

    def finite(self) -> Bool[Array, " m"]:
        """Which proposed states are finite: only these are stored in the queue."""
        return self.proposed() & jnp.isfinite(self.states).all(axis=1)

    @staticmethod
    def of(states: Float[Array, "m n"], count: Int[Array, ""] | None = None) -> "Proposal":
        """A proposal of states that were found without climbing.

        Args:
            states: Shape (m, n).
            count: How many of them, from the first, are valid; all if None.

        """
        none = jnp.zeros((), int)
        found = jnp.asarray(states.shape[0]) if count is None else count
        return Proposal(states, found, none, none, none)


def check_proposal(proposal: object, n: int) -> Proposal:
    """The proposal itself, if it has the right type and its states have `n` coordinates.

    Raises:
        FreqdynaError: If it does not.

    """
    if not isinstance(proposal, Proposal):
        raise FreqdynaError(f"propose returned {type(proposal).__name__}; it must be a Proposal")
    shape = proposal.states.shape
    if len(shape) != 2 or shape[1] != n:
        raise FreqdynaError(f"propose returned states of shape {shape}; it must be (m, {n})")
    return proposal


class SearchControl(eqx.Module):
    """The base class of search-control strategies; a subclass implements `propose`."""

    @classmethod
    def from_config(cls, config: Config) -> "SearchControl":
        """Create the strategy with the settings of a run; override this if it has fields.

        Args:
            config: The settings, all of them set.

        """
        return cls()

    @abc.abstractmethod
    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Find states to add to the search-control queue at this step, for one seed.

        Args:
            search: The value function, the state space and the buffers of the seed.
            key: A random key; all randomness must come from it.

        Returns:
            States of shape (m, n), where m is the same at every step. They should be finite and
            inside the state space: others are counted and reported, and states that are not finite
            are not stored.

        """
