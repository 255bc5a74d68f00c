"""A custom search-control: states near visited ones where the local frequency is highest."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.search_control import Proposal, Search, SearchControl, State


class TopFrequency(SearchControl):
    """The best of many candidates by local frequency g, without climbing."""

    states: int = 20
    candidates: int = 200
    spread: float = 0.3

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Sample candidates around visited states and keep those with the largest g."""
        visited_key, noise_key = jax.random.split(key)
        near = search.visited(visited_key, self.candidates)
        scale = self.spread * jnp.sqrt(jnp.diag(search.covariance))
        near = near + scale * jax.random.normal(noise_key, near.shape)

        def score(state: State) -> jax.Array:
            usable = search.contains(state) & ~search.terminal(state)
            return jnp.where(usable, search.derivatives(state).frequency(), -jnp.inf)

        scores, best = jax.lax.top_k(jax.vmap(score)(near), self.states)
        return Proposal.of(near[best], count=(scores > -jnp.inf).sum())
