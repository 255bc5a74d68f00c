"""Hill climbing: preconditioned, normalised, noisy gradient ascent (the paper's appendix A.7).

    s ← s + α Σ̂∇/‖Σ̂∇‖ + X,   X ~ N(0, ηΣ̂)

A state is stored if it is farther than ε_a from the last stored one. A climb that leaves the state
space is restarted. All random numbers are drawn before the loop, and the loop carries only the m
stored states: both matter for speed when many seeds climb at once.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Count, NotNegative
from freqdyna.core import unrolled
from freqdyna.core.unrolled import repeat_while
from freqdyna.search_control.base import ClimbPath, Proposal, Search, SearchControl, State

VANISHED = 1e-5
"""A direction or a step shorter than this is treated as zero."""

Directions = Callable[[State], Float[Array, "rules n"]]
"""The gradient of each rule's objective at a state."""


class ClimbState(eqx.Module):
    """The state of the loop."""

    state: State
    stored: State
    """The last stored state, or the start of the climb (the paper's s̃)."""
    proposed: Float[Array, "m n"]
    proposal_count: Int[Array, ""]
    iterations: Int[Array, ""]
    restarts: Int[Array, ""]
    vanished: Int[Array, ""]
    by_rule: tuple[tuple[Int[Array, ""], Int[Array, ""]], ...]
    """The iterations and the vanished steps of each rule but the last, which has the others.

    Scalars, because arrays of another shape would need another kernel on a GPU.
    """


class HillClimb(SearchControl):
    """The base of search-controls that climb; every choice that the paper leaves open is a field.

    A subclass implements `propose` with `climb`, or `climb_from_visited`.
    """

    step_size: NotNegative = 0.01
    """The length of a climbing step (α)."""
    noise: NotNegative = 0.01
    """The scale of the climbing noise (η)."""
    noise_scales: Literal["variance", "deviation"] = eqx.field(static=True, default="variance")
    """Whether `noise` scales the "variance" (as in the paper) or the "deviation" of the noise."""
    preconditioner: Literal["covariance", "identity"] = eqx.field(static=True, default="covariance")
    """The matrix that multiplies gradients: the empirical "covariance", or the "identity"."""
    states: Count = eqx.field(static=True, default=20)
    """How many states to find per step (m)."""
    limit: Count = eqx.field(static=True, default=200)
    """The maximum number of iterations per step; fewer than m states may be found."""
    boundary: Literal["restart", "project"] = eqx.field(static=True, default="restart")
    """When a climb leaves the state space, "restart" it or "project" it back."""
    keep_terminal: bool = eqx.field(static=True, default=False)
    """Whether terminal states may be stored; if not, a climb that reaches one is restarted."""
    noise_on_start: bool = eqx.field(static=True, default=False)
    """Whether noise is also added to the start of a climb, which is then projected."""
    restart_when_stuck: bool = eqx.field(static=True, default=False)
    """Whether a climb is restarted after a step shorter than 1e-5, noise included."""
    _traced: bool = eqx.field(static=True, default=False)

    def traced(self) -> "HillClimb":
        """The same, which also records the states of the climbs; that takes longer."""
        return replace(self, _traced=True)

    def climb(
        self,
        search: Search,
        directions: Directions,
        starts: Float[Array, "limit n"],
        rules: Int[Array, " limit"],
        key: PRNGKeyArray,
        rules_counted: int = 1,
    ) -> Proposal:
        """Climb until m states are found or the limit is reached.

        Args:
            search: The state space and the statistics of the visited states.
            directions: From a state to the gradient of each objective, shape (rules, n).
            starts: The i-th climb starts at `starts[i]`; shape (limit, n).
            rules: The i-th climb follows the gradient `rules[i]`; shape (limit,).
            key: A random key for the noise.
            rules_counted: The number of rules, if the steps of each are to be counted.

        """
        n = starts.shape[1]
        sigma = search.covariance if self.preconditioner == "covariance" else jnp.eye(n)
        scale = self.noise if self.noise_scales == "deviation" else jnp.sqrt(self.noise)
        factor = cholesky(sigma).T
        noise = scale * jax.random.normal(key, (self.limit, n)) @ factor
        if self.noise_on_start:
            start_key = jax.random.fold_in(key, 1)
            starts = starts + scale * jax.random.normal(start_key, starts.shape) @ factor
            starts = jax.vmap(lambda s: search.on_manifold(search.project(s)))(starts)

        def unfinished(climb: ClimbState) -> Bool[Array, ""]:
            return (climb.proposal_count < self.states) & (climb.iterations < self.limit)

        def iterate(climb: ClimbState) -> ClimbState:
            rule = rules[climb.restarts]
            slope = directions(climb.state)[rule]
            unit, vanished = uphill(sigma, slope)
            state = climb.state + self.step_size * unit + noise[climb.iterations]
            if self.boundary == "project":
                state = search.project(state)
            state = search.on_manifold(state)
            over = ~search.contains(state)
            if not self.keep_terminal:
                over = over | search.terminal(state)
            if self.restart_when_stuck:
                over = over | (unrolled.norm(state - climb.state) < VANISHED)
            far = unrolled.norm(state - climb.stored) / jnp.sqrt(n) > search.mean_step
            store = far & ~over
            restarts = climb.restarts + over
            state = jnp.where(over, starts[restarts], state)
            return ClimbState(
                state=state,
                stored=jnp.where(over | store, state, climb.stored),
                proposed=jnp.where(
                    store & (jnp.arange(self.states) == climb.proposal_count)[:, None],
                    state,
                    climb.proposed,
                ),
                proposal_count=climb.proposal_count + store,
                iterations=climb.iterations + 1,
                restarts=restarts,
                vanished=climb.vanished + vanished,
                by_rule=tuple(
                    (steps + (rule == i), without + ((rule == i) & vanished))
                    for i, (steps, without) in enumerate(climb.by_rule)
                ),
            )

        none = jnp.zeros((), int)
        proposed = jnp.zeros((self.states, n))
        by_rule = ((none, none),) * (rules_counted - 1)
        climb = ClimbState(starts[0], starts[0], proposed, none, none, none, none, by_rule)
        path = None
        if self._traced:
            climb, path = _traced(unfinished, iterate, climb, rules)
        else:
            climb = repeat_while(unfinished, iterate, climb, search.iterations_at_once)
        return Proposal(
            climb.proposed,
            climb.proposal_count,
            climb.iterations,
            climb.restarts,
            climb.vanished,
            _with_last_rule(climb) if climb.by_rule else None,
            path,
        )

    def climb_from_visited(
        self, search: Search, objective: Callable[[State], Float[Array, ""]], key: PRNGKeyArray
    ) -> Proposal:
        """Climb one objective, starting every climb at a visited state.

        Args:
            search: What the search-control can use.
            objective: A differentiable function from a state of shape (n,) to a scalar.
            key: A random key.

        """
        start_key, climb_key = jax.random.split(key)
        starts = search.visited(start_key, self.limit)
        rules = jnp.zeros(self.limit, int)
        slope = jax.grad(objective)
        return self.climb(search, lambda state: slope(state)[None], starts, rules, climb_key)


def uphill(sigma: Float[Array, "n n"], slope: State) -> tuple[State, Bool[Array, ""]]:
    """The direction Σ∇/‖Σ∇‖ of a climbing step, and whether it vanished.

    It is zero if the gradient is not finite or shorter than VANISHED.
    """
    steepness = unrolled.norm(slope)
    finite = jnp.isfinite(steepness)
    direction = unrolled.total(sigma * jnp.where(finite, slope, 0.0))
    length = unrolled.norm(direction)
    vanished = ~(finite & (steepness >= VANISHED) & (length > 0))
    return jnp.where(vanished, 0.0, direction / jnp.where(vanished, 1.0, length)), vanished


def _with_last_rule(climb: ClimbState) -> Int[Array, "rules 2"]:
    """The iterations and the vanished steps of each rule."""
    counted = jnp.array(climb.by_rule)
    last = jnp.stack([climb.iterations, climb.vanished]) - counted.sum(axis=0)
    return jnp.concatenate([counted, last[None]])


def _traced(
    unfinished: Callable[[ClimbState], Bool[Array, ""]],
    iterate: Callable[[ClimbState], ClimbState],
    climb: ClimbState,
    rules: Int[Array, " limit"],
) -> tuple[ClimbState, ClimbPath]:
    """The finished climb, and the state at the start of every iteration."""

    def visit(climb: ClimbState, _: None) -> tuple[ClimbState, tuple[State, Array, Array]]:
        running = unfinished(climb)
        number = jnp.where(running, climb.restarts, -1)
        after = jax.tree.map(lambda a, b: jnp.where(running, a, b), iterate(climb), climb)
        return after, (climb.state, number, rules[climb.restarts])

    climb, visits = jax.lax.scan(visit, climb, None, length=len(rules))
    return climb, ClimbPath(*visits)


def cholesky(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The lower triangular L with L Lᵀ = matrix, which may be positive semi-definite.

    It is computed column by column, for small matrices: a batch of library calls is slower.
    """
    n = matrix.shape[0]
    factor = jnp.zeros_like(matrix)
    for j in range(n):
        column = matrix[:, j] - factor @ factor[j]
        pivot = jnp.sqrt(jnp.maximum(column[j], 0.0))
        column = jnp.where(pivot > 0, column / jnp.where(pivot > 0, pivot, 1.0), 0.0)
        # A pivot that is zero but for rounding makes entries larger than the diagonal allows.
        most = 1.001 * jnp.sqrt(jnp.maximum(jnp.diag(matrix) - (factor**2).sum(1), 0.0))
        column = jnp.clip(column, -most, most)
        factor = factor.at[:, j].set(jnp.where(jnp.arange(n) >= j, column, 0.0))
    return factor
