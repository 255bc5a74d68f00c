"""The one climbing engine: preconditioned, normalised, noisy ascent (the paper's appendix A.7).

    s ← s + α Σ̂∇/‖Σ̂∇‖ + X,   X ~ N(0, ηΣ̂)

A state is stored when it is farther than ε_a from the one stored last. Leaving the state space
starts a new climb. All random numbers are drawn before the loop, and the loop carries only the m
states found: both matter for speed when many seeds climb at once.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.core import unrolled
from freqdyna.core.unrolled import repeat_while
from freqdyna.search_control.base import ClimbPath, Proposal, Search, State

VANISHED = 1e-5
"""A direction shorter than this counts as zero."""

Directions = Callable[[State], Float[Array, "rules n"]]
"""The gradient of each rule's objective at a state."""


class Climb(eqx.Module):
    """A climb under way."""

    state: State
    stored: State
    """The state stored last, or the start of the climb (the paper's s̃)."""
    found: Float[Array, "m n"]
    proposal_count: Int[Array, ""]
    iterations: Int[Array, ""]
    restarts: Int[Array, ""]
    vanished: Int[Array, ""]


class HillClimb(eqx.Module):
    """How to climb. Every choice that the paper leaves open is a field."""

    states: int = eqx.field(static=True)
    """How many states to fetch (m)."""
    step_size: float
    """α."""
    noise: float
    """η."""
    limit: int = eqx.field(static=True)
    """Most iterations at one time step; fewer than m states may then be found."""
    noise_scales: str = eqx.field(static=True)
    """Whether η scales the "variance" or the "deviation" of the noise."""
    preconditioner: str = eqx.field(static=True)
    """The empirical "covariance", or the "identity"."""
    boundary: str = eqx.field(static=True)
    """On leaving the state space "restart", or "project" back onto it."""
    keep_terminal: bool = eqx.field(static=True)
    """Whether terminal states may be stored; if not, reaching one starts a new climb."""
    traced: bool = eqx.field(static=True, default=False)
    """Whether the proposal also says where the climbs went: for pictures, as it takes longer."""

    @staticmethod
    def from_config(config: Config) -> "HillClimb":
        """The engine with the configuration's settings."""
        assert config.search_states is not None
        return HillClimb(
            states=config.search_states,
            step_size=config.climb_step_size,
            noise=config.climb_noise,
            limit=config.climb_limit,
            noise_scales=config.climb_noise_scales,
            preconditioner=config.climb_preconditioner,
            boundary=config.climb_boundary,
            keep_terminal=config.climb_keep_terminal,
        )

    def __call__(
        self,
        search: Search,
        directions: Directions,
        starts: Float[Array, "limit n"],
        rules: Int[Array, " limit"],
        key: PRNGKeyArray,
    ) -> Proposal:
        """Climb until m states are found or the limit is reached.

        The i-th climb begins at `starts[i]` and follows the direction `rules[i]`.
        """
        n = starts.shape[1]
        sigma = search.covariance if self.preconditioner == "covariance" else jnp.eye(n)
        scale = self.noise if self.noise_scales == "deviation" else jnp.sqrt(self.noise)
        noise = scale * jax.random.normal(key, (self.limit, n)) @ cholesky(sigma).T

        def unfinished(climb: Climb) -> Bool[Array, ""]:
            return (climb.proposal_count < self.states) & (climb.iterations < self.limit)

        def iterate(climb: Climb) -> Climb:
            slope = directions(climb.state)[rules[climb.restarts]]
            steepness = unrolled.norm(slope)
            finite = jnp.isfinite(steepness)
            direction = unrolled.total(sigma * jnp.where(finite, slope, 0.0))
            length = unrolled.norm(direction)
            vanished = ~(finite & (steepness >= VANISHED) & (length > 0))
            unit = jnp.where(vanished, 0.0, direction / jnp.where(vanished, 1.0, length))
            state = climb.state + self.step_size * unit + noise[climb.iterations]
            if self.boundary == "project":
                state = search.project(state)
            state = search.on_manifold(state)
            over = ~search.contains(state)
            if not self.keep_terminal:
                over = over | search.terminal(state)
            far = unrolled.norm(state - climb.stored) / jnp.sqrt(n) > search.mean_step
            store = far & ~over
            restarts = climb.restarts + over
            state = jnp.where(over, starts[restarts], state)
            return Climb(
                state=state,
                stored=jnp.where(over | store, state, climb.stored),
                found=jnp.where(
                    store & (jnp.arange(self.states) == climb.proposal_count)[:, None],
                    state,
                    climb.found,
                ),
                proposal_count=climb.proposal_count + store,
                iterations=climb.iterations + 1,
                restarts=restarts,
                vanished=climb.vanished + vanished,
            )

        none = jnp.zeros((), int)
        found = jnp.zeros((self.states, n))
        climb = Climb(starts[0], starts[0], found, none, none, none, none)
        path = None
        if self.traced:
            climb, path = _traced(unfinished, iterate, climb, rules)
        else:
            climb = repeat_while(unfinished, iterate, climb)
        return Proposal(
            climb.found,
            climb.proposal_count,
            climb.iterations,
            climb.restarts,
            climb.vanished,
            path,
        )

    def from_visited(
        self, search: Search, objective: Callable[[State], Float[Array, ""]], key: PRNGKeyArray
    ) -> Proposal:
        """Climb one objective, every climb beginning at a visited state."""
        start_key, climb_key = jax.random.split(key)
        starts = search.visited(start_key, self.limit)
        rules = jnp.zeros(self.limit, int)
        slope = jax.grad(objective)
        return self(search, lambda state: slope(state)[None], starts, rules, climb_key)


def _traced(
    unfinished: Callable[[Climb], Bool[Array, ""]],
    iterate: Callable[[Climb], Climb],
    climb: Climb,
    rules: Int[Array, " limit"],
) -> tuple[Climb, ClimbPath]:
    """The finished climb, and every state from which an iteration began."""

    def visit(climb: Climb, _: None) -> tuple[Climb, tuple[State, Array, Array]]:
        going = unfinished(climb)
        number = jnp.where(going, climb.restarts, -1)
        after = jax.tree.map(lambda a, b: jnp.where(going, a, b), iterate(climb), climb)
        return after, (climb.state, number, rules[climb.restarts])

    climb, visits = jax.lax.scan(visit, climb, None, length=len(rules))
    return climb, ClimbPath(*visits)


def cholesky(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The lower triangular L with L Lᵀ = matrix, also for one that is only semi-definite.

    Column by column, for matrices of a few rows: a batch of library calls costs more.
    """
    n = matrix.shape[0]
    factor = jnp.zeros_like(matrix)
    for j in range(n):
        column = matrix[:, j] - factor @ factor[j]
        pivot = jnp.sqrt(jnp.maximum(column[j], 0.0))
        column = jnp.where(pivot > 0, column / jnp.where(pivot > 0, pivot, 1.0), 0.0)
        factor = factor.at[:, j].set(jnp.where(jnp.arange(n) >= j, column, 0.0))
    return factor
