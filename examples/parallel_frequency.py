"""Short climbs side by side: m climbs of a few iterations each, instead of one climb of many.

A climb is a loop that no other climb of the same step can share. Climbers that move at the same
time need only a few iterations, each of them one batch, which suits a GPU.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.search_control import Proposal, Search, SearchControl, State
from freqdyna.search_control.climb import cholesky, uphill

Move = Callable[[Float[Array, "m n"], PRNGKeyArray], Float[Array, "m n"]]
"""From the states of all climbers, and a key, to their next states."""


class ParallelClimb(SearchControl):
    """The base of search-controls that move m climbers at once."""

    states: int = 20
    """The number of climbers (m)."""
    iterations: int = 10
    """Moves of each climber per step."""

    def climb(
        self, search: Search, move: Move, starts: Float[Array, "m n"], key: PRNGKeyArray
    ) -> Proposal:
        """Where the climbers end; one that leaves the state space or ends starts again."""

        def usable(state: State) -> Bool[Array, ""]:
            return search.contains(state) & ~search.terminal(state)

        def iterate(states: Float[Array, "m n"], key: PRNGKeyArray) -> tuple[Array, None]:
            states = jax.vmap(search.on_manifold)(move(states, key))
            return jnp.where(jax.vmap(usable)(states)[:, None], states, starts), None

        ends, _ = jax.lax.scan(iterate, starts, jax.random.split(key, self.iterations))
        valid = jax.vmap(usable)(ends)
        return Proposal.of(ends[jnp.argsort(~valid)], valid.sum())  # usable states first


class ParallelFrequency(ParallelClimb):
    """The ends of climbs of the local frequency g from the queue, or of V from visited states."""

    step_size: float = 0.01
    noise: float = 0.01
    """The variance of the noise, as a multiple of the covariance of visited states."""
    probability: float = 0.5
    """The probability that a climb follows g rather than V."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Move all climbers."""
        rule_key, queue_key, visited_key, climb_key = jax.random.split(key, 4)
        probability = jnp.where(search.queue_is_empty, 0.0, self.probability)
        of_g = (jax.random.uniform(rule_key, (self.states,)) < probability)[:, None]
        queued = search.queued(queue_key, self.states)
        starts = jnp.where(of_g, queued, search.visited(visited_key, self.states))
        root = jnp.sqrt(self.noise) * cholesky(search.covariance)

        def move(states: Float[Array, "m n"], key: PRNGKeyArray) -> Float[Array, "m n"]:
            g_slopes, v_slopes = jax.vmap(lambda s: search.slopes(s, 1.0, 1.0))(states)
            slopes = jnp.where(of_g, g_slopes, v_slopes)
            units, _ = jax.vmap(lambda slope: uphill(search.covariance, slope))(slopes)
            return states + self.step_size * units + jax.random.normal(key, states.shape) @ root.T

        return self.climb(search, move, starts, climb_key)
