"""Plan where the temporal-difference error is large, by scoring candidates.

It is what prioritized replay does for visited transitions (Schaul et al., 2016), for any state: the
model gives the outcome, so no priority is outdated and no state is left out.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, register
from freqdyna.search_control.candidates import sample_in_proportion, uniform_candidates


@register("td-error")
class TDErrorSearch(SearchControl):
    """States sampled in proportion to |temporal-difference error| from uniform candidates."""

    states: int = eqx.field(static=True)
    candidates: int = eqx.field(static=True)
    """The number of candidates, which are scored all at once."""

    @classmethod
    def from_config(cls, config: Config) -> "TDErrorSearch":
        """Create the strategy with the settings of a run."""
        return cls(config.decided("search_states"), config.search_candidates)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Score the candidates with the model and sample m; see `SearchControl.propose`."""
        candidate_key, error_key, choice_key = jax.random.split(key, 3)
        states, usable = uniform_candidates(search, candidate_key, self.candidates)
        error_keys = jax.random.split(error_key, self.candidates)
        errors = jnp.abs(jax.vmap(search.td_error)(states, error_keys))
        weights = jnp.where(usable, errors, 0.0)
        chosen, any_weight = sample_in_proportion(weights, choice_key, self.states)
        return Proposal.of(states[chosen], jnp.where(any_weight, self.states, 0))
