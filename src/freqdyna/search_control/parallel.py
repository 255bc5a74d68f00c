"""Climbers side by side: m climbs of a few iterations each, instead of one climb of many.

A climb is a loop that no other climb of the same step can share. Climbers that move at the same
time need only a few iterations, each of them one batch; they may continue at the next step.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Count, NotNegative
from freqdyna.core import unrolled
from freqdyna.envs.space import Space
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.climb import Ascent, Directions, cholesky, preconditioner, uphill
from freqdyna.search_control.frequency import FrequencyOrValue, Weighted, drawn_starts

Move = Callable[[State, Int[Array, ""], PRNGKeyArray], tuple[State, Bool[Array, ""]]]
"""From (state, rule, key) to the next state of a climber, and whether it had no direction."""


class Climbers(eqx.Module):
    """Where the climbers are: the memory of persistent ones."""

    states: Float[Array, "m n"]
    rules: Int[Array, " m"]
    """Which direction each of them follows."""
    alive: Bool[Array, ""]
    """Whether they have started."""


class ParallelClimb(SearchControl):
    """The base of search-controls that move m climbers side by side."""

    states: Count = eqx.field(static=True, default=20)
    """The number of climbers, and of states to find per step (m)."""
    iterations: Count = eqx.field(static=True, default=10)
    """Moves of each climber per step."""
    boundary: Literal["restart", "project"] = eqx.field(static=True, default="restart")
    """When a climber leaves the state space, "restart" it or "project" it back."""
    keep_terminal: bool = eqx.field(static=True, default=False)
    """Whether terminal states may be stored; if not, a climber that reaches one is restarted."""
    persistent: bool = eqx.field(static=True, default=False)
    """Whether climbers continue at the next step from where they were."""

    def init(self, space: Space, key: PRNGKeyArray) -> Climbers | None:
        """The climbers, if they are persistent; see `SearchControl.init`."""
        if not self.persistent:
            return None
        nowhere = jnp.zeros((self.states, space.observation_size))
        return Climbers(nowhere, jnp.zeros(self.states, int), jnp.zeros((), bool))

    def climb(
        self,
        search: Search,
        move: Move,
        starts: Float[Array, "m n"],
        rules: Int[Array, " m"],
        key: PRNGKeyArray,
        rules_counted: int = 1,
    ) -> Proposal:
        """Move all climbers and propose where they end.

        Args:
            search: What the search-control can use.
            move: Moves one climber.
            starts: Where each climber starts, or restarts, in this time step; shape (m, n).
            rules: The rule that it then follows, shape (m,).
            key: A random key.
            rules_counted: The number of rules, if the moves of each are to be counted.

        """
        first = starts, rules
        if self.persistent:
            before: Climbers = search.memory
            first = (
                jnp.where(before.alive, before.states, starts),
                jnp.where(before.alive, before.rules, rules),
            )

        def usable(state: State) -> Bool[Array, ""]:
            inside = search.contains(state)
            return inside if self.keep_terminal else inside & ~search.terminal(state)

        def iterate(
            climbers: tuple[Float[Array, "m n"], Int[Array, " m"]], key: PRNGKeyArray
        ) -> tuple[
            tuple[Float[Array, "m n"], Int[Array, " m"]],
            tuple[Int[Array, ""], Int[Array, "rules 2"]],
        ]:
            states, followed = climbers
            keys = jax.random.split(key, self.states)
            states, vanished = jax.vmap(move)(states, followed, keys)
            if self.boundary == "project":
                states = jax.vmap(search.project)(states)
            states = jax.vmap(search.on_manifold)(states)
            over = ~jax.vmap(usable)(states)
            states = jnp.where(over[:, None], starts, states)
            by_rule = followed[:, None] == jnp.arange(rules_counted)
            moves = jnp.stack([by_rule.sum(axis=0), (by_rule & vanished[:, None]).sum(axis=0)], 1)
            return (states, jnp.where(over, rules, followed)), (over.sum(), moves)

        keys = jax.random.split(key, self.iterations)
        (states, followed), (over, moves) = jax.lax.scan(iterate, first, keys)
        valid = jax.vmap(usable)(states)
        order = jnp.argsort(~valid)  # stable: usable states first
        by_rule = moves.sum(axis=0)
        iterations, vanished = by_rule.sum(axis=0)
        return Proposal(
            states[order],
            valid.sum(),
            iterations,
            over.sum(),
            vanished,
            by_rule if rules_counted > 1 else None,
            memory=Climbers(states, followed, jnp.ones((), bool)) if self.persistent else None,
        )


def ascent(step: Ascent, search: Search, directions: Directions) -> Move:
    """Moves like the steps of a hill climb: of length α uphill, with noise."""
    sigma = preconditioner(search, step.preconditioner)
    factor = cholesky(sigma)

    def move(
        state: State, rule: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[State, Bool[Array, ""]]:
        unit, vanished = uphill(sigma, directions(state)[rule])
        noise = step.noise_deviation * factor @ jax.random.normal(key, state.shape)
        return state + step.step_size * unit + noise, vanished

    return move


@register("parallel-frequency")
class ParallelFrequency(Weighted, ParallelClimb, Ascent, FrequencyOrValue):
    """The ends of m short climbs side by side, of the local frequency g(s) or of V(s)."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers; see `SearchControl.propose`."""
        rule_key, queue_key, visited_key, climb_key = jax.random.split(key, 4)
        rules = self.drawn_rules(search, rule_key, self.states)
        starts = drawn_starts(search, rules, queue_key, visited_key)
        move = ascent(self, search, partial(self.directions, search))
        return self.climb(search, move, starts, rules, climb_key, len(self.climb_rules))


SMALLEST_ERROR = 1e-3
"""Added to the error, whose logarithm would otherwise be infinitely steep where it is zero."""


@register("td-climb")
class TDClimb(ParallelClimb):
    """The ends of Langevin climbs of log |temporal-difference error|, side by side (Dyna-TD).

    Langevin dynamics on h(s) = log |y − Q(s, a)| visits states in proportion to the error, as far
    as the target y is the same in the neighbourhood (Pan et al., UAI 2022):

        s ← s + α/2 Σ̂∇h + √α Σ̂^½ X,   X ~ N(0, I)

    The target is a constant in ∇h, so that no model needs to be differentiable.
    """

    step_size: NotNegative = 0.01
    """α, the square of a typical step as a multiple of the spread of the visited states."""
    preconditioner: Literal["covariance", "identity"] = eqx.field(static=True, default="covariance")
    """The matrix Σ̂: the empirical "covariance", or the "identity"."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers from visited states; see `SearchControl.propose`."""
        start_key, climb_key = jax.random.split(key)
        factor = cholesky(preconditioner(search, self.preconditioner))
        root = jnp.sqrt(self.step_size)

        def move(
            state: State, rule: Int[Array, ""], key: PRNGKeyArray
        ) -> tuple[State, Bool[Array, ""]]:
            policy_key, outcome_key, noise_key = jax.random.split(key, 3)
            action = search.policy(state, policy_key)
            error = search.td_error(state, outcome_key, action)
            target = error + search.q(state, action)

            def height(s: State) -> Float[Array, ""]:
                return jnp.log(jnp.abs(target - search.q(s, action)) + SMALLEST_ERROR)

            # √α/2 Σ̂^½∇h: the drift in units of the noise, and no longer than it.
            drift = root / 2 * factor.T @ jax.grad(height)(state)
            length = unrolled.norm(drift)
            vanished = ~(jnp.isfinite(length) & (length > 0))
            drift = jnp.where(vanished, 0.0, drift / jnp.maximum(length, 1.0))
            noise = jax.random.normal(noise_key, state.shape)
            return state + root * factor @ (drift + noise), vanished

        starts = search.visited(start_key, self.states)
        return self.climb(search, move, starts, jnp.zeros(len(starts), int), climb_key)
