"""A search-control from the library's own parts: many short climbs of V side by side."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.search_control import Proposal, Search
from freqdyna.search_control.climb import Ascent
from freqdyna.search_control.parallel import ParallelClimb, ascent


class ParallelValue(ParallelClimb, Ascent):
    """The ends of m short climbs of V, from visited states."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers."""
        start_key, climb_key = jax.random.split(key)
        starts = search.visited(start_key, self.states)
        slope = jax.grad(search.value)
        move = ascent(self, search, lambda state: slope(state)[None])
        return self.climb(search, move, starts, jnp.zeros(len(starts), int), climb_key)
