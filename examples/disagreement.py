"""A search-control for an ensemble of models: plan where its members disagree.

Disagreement is large where the model has few data; it guides exploration in Pathak et al. (2019)
and, as the spread of an ensemble, planning in Chua et al. (2018).
"""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.search_control import Proposal, Search, SearchControl
from freqdyna.search_control.sampling import (
    random_action,
    sample_in_proportion,
    uniform_candidates,
)


class Disagreement(SearchControl):
    """State-action pairs, in proportion to the disagreement; it needs the model "ensemble"."""

    proposes_actions: ClassVar[bool] = True
    states: int = 20
    candidates: int = 200

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Pair uniform states with random actions, and sample among the pairs."""
        candidate_key, action_key, choice_key = jax.random.split(key, 3)
        states, usable = uniform_candidates(search, candidate_key, self.candidates)
        action_keys = jax.random.split(action_key, self.candidates)
        actions = jax.vmap(lambda k: random_action(search, k))(action_keys)
        weights = jnp.where(usable, jax.vmap(search.disagreement)(states, actions), 0.0)
        chosen, any_weight = sample_in_proportion(weights, choice_key, self.states)
        count = jnp.where(any_weight, self.states, 0)
        return Proposal.of(states[chosen], count, actions[chosen])
