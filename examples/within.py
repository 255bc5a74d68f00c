"""A search-control that keeps another one near the visited states."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Count, NotNegative
from freqdyna.envs import Space
from freqdyna.search_control import Proposal, Search, SearchControl, State, Uniform


class Within(SearchControl):
    """The states of another search-control, none of them far from a visited state.

    A state that is farther is moved on a straight line towards the nearest visited state.
    Coordinates are divided by the standard deviation of the visited states. Statistics of climbs
    are those of the other search-control.
    """

    control: SearchControl = Uniform()
    steps: NotNegative = 5.0
    """The greatest distance, in mean steps of the environment; 0 for visited states only."""
    visited: Count = 1000
    """The number of visited states among which the nearest is found."""

    def init(self, space: Space, key: PRNGKeyArray) -> Any:
        """The memory of the other search-control."""
        return self.control.init(space, key)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move what the other proposes, and keep what is usable."""
        own_key, visited_key, step_key = jax.random.split(key, 3)
        proposal = self.control.propose(search, own_key)
        deviation = jnp.sqrt(jnp.diag(search.covariance))
        unit = jnp.where(deviation > 0, deviation, 1.0)
        visited = search.visited(visited_key, self.visited)
        taken = search.transitions(step_key, self.visited)
        mean_step = jnp.linalg.norm((taken.next_state - taken.state) / unit, axis=1).mean()

        def nearer(s: State) -> Float[Array, " n"]:
            distances = jnp.linalg.norm((visited - s) / unit, axis=1)
            nearest, distance = visited[jnp.argmin(distances)], distances.min()
            share = jnp.minimum(1.0, self.steps * mean_step / jnp.maximum(distance, 1e-12))
            return nearest + share * (s - nearest)

        states = jax.vmap(nearer)(proposal.states)
        usable = jax.vmap(search.usable)(states) & proposal.finite()
        order = jnp.argsort(~usable)  # stable: usable states first
        actions = None if proposal.actions is None else proposal.actions[order]
        return replace(
            proposal, states=states[order], count=usable.sum(), actions=actions, by_rule=None
        )
