"""A custom search-control: plan where the temporal-difference error is large."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.search_control import Proposal, Search, SearchControl


class TDError(SearchControl):
    """Random states, sampled in proportion to the size of their temporal-difference error."""

    states: int = 20
    candidates: int = 200

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Draw candidates uniformly, ask the model about each, and keep some of them."""
        candidate_key, error_key, choice_key = jax.random.split(key, 3)
        shape = self.candidates, search.low.size
        candidates = jax.random.uniform(candidate_key, shape, minval=search.low, maxval=search.high)
        error_keys = jax.random.split(error_key, self.candidates)
        errors = jnp.abs(jax.vmap(search.td_error)(candidates, error_keys))
        usable = jax.vmap(lambda s: search.contains(s) & ~search.terminal(s))(candidates)
        log_weights = jnp.where(usable, jnp.log(errors + 1e-12), -jnp.inf)
        chosen = jax.random.categorical(choice_key, log_weights, shape=(self.states,))
        return Proposal.of(candidates[chosen], count=jnp.where(usable.any(), self.states, 0))
