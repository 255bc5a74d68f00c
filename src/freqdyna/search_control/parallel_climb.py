"""Climbers side by side: m climbs of a few iterations each, instead of one climb of many.

A climb is a loop that no other climb of the same step can share. Climbers that move at the same
time need only a few iterations, each of them one batch; they may continue at the next step.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.envs.space import Space
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.frequency import FrequencySearch, drawn_starts
from freqdyna.search_control.hill_climb import (
    Directions,
    HillClimb,
    cholesky,
    preconditioner,
    uphill,
)

Move = Callable[[State, Int[Array, ""], PRNGKeyArray], tuple[State, Bool[Array, ""]]]
"""From (state, rule, key) to the next state of a climber, and whether it had no direction."""


class Climbers(eqx.Module):
    """Where the climbers are: the memory of persistent ones."""

    states: Float[Array, "m n"]
    rules: Int[Array, " m"]
    """Which direction each of them follows."""
    alive: Bool[Array, ""]
    """Whether they have started."""


class ParallelClimb(eqx.Module):
    """Moves m climbers side by side."""

    climbers: int = eqx.field(static=True)
    """The number of climbers, and of states found (m)."""
    iterations: int = eqx.field(static=True)
    """Moves of each climber per time step."""
    boundary: str = eqx.field(static=True)
    """When a climber leaves the state space, "restart" it or "project" it back."""
    keep_terminal: bool = eqx.field(static=True)
    """Whether terminal states may be stored; if not, a climber that reaches one is restarted."""
    persistent: bool = eqx.field(static=True)
    """Whether climbers continue at the next step from where they were."""

    @staticmethod
    def from_config(config: Config) -> "ParallelClimb":
        """Create it with the settings of a run."""
        return ParallelClimb(
            climbers=config.decided("search_states"),
            iterations=config.climb_iterations,
            boundary=config.climb_boundary,
            keep_terminal=config.climb_keep_terminal,
            persistent=config.climb_persistent,
        )

    def init(self, space: Space) -> Climbers | None:
        """The memory before the first step; see `SearchControl.init`."""
        if not self.persistent:
            return None
        nowhere = jnp.zeros((self.climbers, space.observation_size))
        return Climbers(nowhere, jnp.zeros(self.climbers, int), jnp.zeros((), bool))

    def __call__(
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
            search: What the search-control was given.
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
            keys = jax.random.split(key, self.climbers)
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
        found = jax.vmap(usable)(states)
        order = jnp.argsort(~found)  # stable: usable states first
        by_rule = moves.sum(axis=0)
        iterations, vanished = by_rule.sum(axis=0)
        return Proposal(
            states[order],
            found.sum(),
            iterations,
            over.sum(),
            vanished,
            by_rule if rules_counted > 1 else None,
            memory=Climbers(states, followed, jnp.ones((), bool)) if self.persistent else None,
        )


def ascent(climb: HillClimb, search: Search, directions: Directions) -> Move:
    """Moves like the steps of a hill climb: of length α uphill, with noise.

    Args:
        climb: The hill climb, of which only steps are used.
        search: What the search-control was given.
        directions: From a state to the gradient of each rule's objective, shape (rules, n).

    """
    sigma = preconditioner(search, climb.preconditioner)
    factor = cholesky(sigma)

    def move(
        state: State, rule: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[State, Bool[Array, ""]]:
        unit, vanished = uphill(sigma, directions(state)[rule])
        noise = climb.noise_deviation * factor @ jax.random.normal(key, state.shape)
        return state + climb.step_size * unit + noise, vanished

    return move


@register("parallel-frequency")
class ParallelFrequencySearch(SearchControl):
    """The ends of m short climbs side by side, of the local frequency g(s) or of V(s)."""

    climb_rules: ClassVar[tuple[str, ...]] = FrequencySearch.climb_rules
    climb: ParallelClimb
    alone: FrequencySearch
    """What one climb at a time would do: its rules, directions and steps are those of climbers."""

    @classmethod
    def from_config(cls, config: Config) -> "ParallelFrequencySearch":
        """Create the strategy with the settings of a run."""
        return cls(ParallelClimb.from_config(config), FrequencySearch.from_config(config))

    def init(self, space: Space, key: PRNGKeyArray) -> Climbers | None:
        """The climbers, if they are persistent; see `SearchControl.init`."""
        return self.climb.init(space)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers; see `SearchControl.propose`."""
        rule_key, queue_key, visited_key, climb_key = jax.random.split(key, 4)
        rules = self.alone.drawn_rules(search, rule_key, self.climb.climbers)
        starts = drawn_starts(search, rules, queue_key, visited_key)
        move = ascent(self.alone.climb, search, partial(self.alone.directions, search))
        return self.climb(search, move, starts, rules, climb_key, len(self.climb_rules))
