"""The contract of a search-control: from a value function to states worth planning from."""

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
"""States drawn uniformly from a store, one for each word of random bits."""


@dataclass(frozen=True)
class Search:
    """All that a search-control may look at, for one seed at one time step."""

    value: Callable[[State], Float[Array, ""]]
    """V(s) = max_a Q(s, a) of the current network."""
    derivatives: Callable[[State], Derivatives]
    """V, its gradient and its Hessian at a state, of the current network."""
    slopes: Slopes
    """(state, η₁, η₂) to ∇g and ∇V, g = η₁‖∇V‖² + η₂‖H_V‖²_F: what a climb of g needs, fast."""
    target_slopes: Slopes
    """The same of the target network."""
    draw_visited: Draw
    draw_queue: Draw
    """What the methods `visited` and `queued` draw from."""
    queue_is_empty: Bool[Array, ""]
    low: Float[Array, " n"]
    high: Float[Array, " n"]
    """The bounds of the state space."""
    contains: Callable[[State], Bool[Array, ""]]
    """Whether a state belongs to the state space."""
    project: Callable[[State], State]
    """The nearest state of the state space."""
    terminal: Callable[[State], Bool[Array, ""]]
    """Whether an episode ends in a state."""
    covariance: Float[Array, "n n"]
    """Empirical covariance of the visited states (the paper's Σ̂)."""
    mean_step: Float[Array, ""]
    """Running mean of ‖s_{t+1} − s_t‖₂/√n (the paper's ε_a)."""
    on_manifold: Callable[[State], State] = lambda state: state
    """The nearest state of the set that states lie on; the state itself but for a few spaces."""

    def visited(self, key: PRNGKeyArray, count: int) -> Float[Array, "count n"]:
        """States drawn from the experience replay (the paper's B), uniformly."""
        return self.draw_visited(jax.random.bits(key, (count,), jnp.uint32))

    def queued(self, key: PRNGKeyArray, count: int) -> Float[Array, "count n"]:
        """States drawn from the search-control queue (B_s), or visited ones while it is empty."""
        return self.draw_queue(jax.random.bits(key, (count,), jnp.uint32))


class ClimbPath(eqx.Module):
    """Where climbs went, iteration by iteration."""

    states: Float[Array, "limit n"]
    climbs: Int[Array, " limit"]
    """The number of the climb that the state belongs to; −1 where there is no state."""
    rules: Int[Array, " limit"]
    """Which of the search-control's directions that climb follows."""


class Proposal(eqx.Module):
    """The states that a search-control found, and how it went."""

    states: Float[Array, "m n"]
    count: Int[Array, ""]
    """Only the first `count` of the states are meant."""
    iterations: Int[Array, ""]
    """Steps of climbing taken."""
    restarts: Int[Array, ""]
    """Climbs begun anew after the first."""
    vanished: Int[Array, ""]
    """Steps at which the direction was zero or not finite, so that only noise moved the state."""
    path: ClimbPath | None = None
    """Only from a `HillClimb` that is traced."""

    @staticmethod
    def of(states: Float[Array, "m n"], count: Int[Array, ""] | None = None) -> "Proposal":
        """The first `count` of `states`, or all, found without climbing."""
        none = jnp.zeros((), int)
        found = jnp.asarray(states.shape[0]) if count is None else count
        return Proposal(states, found, none, none, none)


def check_proposal(proposal: object, n: int) -> Proposal:
    """The proposal, if it is one of states with `n` coordinates."""
    if not isinstance(proposal, Proposal):
        raise FreqdynaError(f"propose returned {type(proposal).__name__}; it must be a Proposal")
    shape = proposal.states.shape
    if len(shape) != 2 or shape[1] != n:
        raise FreqdynaError(f"propose returned states of shape {shape}; it must be (m, {n})")
    return proposal


class SearchControl(eqx.Module):
    """A strategy. Subclass it with the one method `propose`, written for one seed."""

    @classmethod
    def from_config(cls, config: Config) -> "SearchControl":
        """The strategy with the run's settings, which are complete.

        Override it where the strategy has fields.
        """
        return cls()

    @abc.abstractmethod
    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """States to add to the search-control queue at this step; their number m is fixed."""
