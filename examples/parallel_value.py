"""A search-control from the library's own parts: many short climbs of V side by side."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.envs import Space
from freqdyna.search_control import HillClimb, Proposal, Search, SearchControl
from freqdyna.search_control.parallel_climb import ParallelClimb, ascent


class ParallelValue(SearchControl):
    """The ends of m short climbs of V, from visited states."""

    climbers: ParallelClimb
    step: HillClimb
    """One climb at a time, whose steps are those of the climbers."""

    @classmethod
    def from_config(cls, config: Config) -> "ParallelValue":
        """With the settings `climb_...` of a run."""
        return cls(ParallelClimb.from_config(config), HillClimb.from_config(config))

    def init(self, space: Space, key: PRNGKeyArray) -> Any:
        """The climbers, if they are persistent."""
        return self.climbers.init(space)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers."""
        start_key, climb_key = jax.random.split(key)
        starts = search.visited(start_key, self.climbers.climbers)
        slope = jax.grad(search.value)
        move = ascent(self.step, search, lambda state: slope(state)[None])
        return self.climbers(search, move, starts, jnp.zeros(len(starts), int), climb_key)
