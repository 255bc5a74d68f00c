"""Plan where the members of an ensemble disagree about the outcome.

Disagreement is large where the model has few data; it guides exploration in Pathak et al. (2019)
and, as the spread of an ensemble, planning in Chua et al. (2018).
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, register
from freqdyna.search_control.candidates import (
    random_action,
    sample_in_proportion,
    uniform_candidates,
)


@register("disagreement")
class DisagreementSearch(SearchControl):
    """State-action pairs sampled in proportion to the disagreement of the model ensemble."""

    proposes_actions: ClassVar[bool] = True
    states: int = eqx.field(static=True)
    candidates: int = eqx.field(static=True)
    """The number of candidates, which are scored all at once."""

    @classmethod
    def from_config(cls, config: Config) -> "DisagreementSearch":
        """Create the strategy with the settings of a run."""
        return cls(config.decided("search_states"), config.search_candidates)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Pair each candidate with an action and sample m pairs; see `SearchControl.propose`."""
        candidate_key, action_key, choice_key = jax.random.split(key, 3)
        states, usable = uniform_candidates(search, candidate_key, self.candidates)
        action_keys = jax.random.split(action_key, self.candidates)
        actions = jax.vmap(lambda k: random_action(search, k))(action_keys)
        weights = jnp.where(usable, jax.vmap(search.disagreement)(states, actions), 0.0)
        chosen, any_weight = sample_in_proportion(weights, choice_key, self.states)
        count = jnp.where(any_weight, self.states, 0)
        return Proposal.of(states[chosen], count, actions[chosen])
