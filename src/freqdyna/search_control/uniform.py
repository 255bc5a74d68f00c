"""Plan from states sampled uniformly within the bounds of the state space."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, register
from freqdyna.search_control.candidates import uniform_candidates


@register("uniform")
class UniformSearch(SearchControl):
    """States sampled uniformly from the state space, excluding terminal ones."""

    states: int = eqx.field(static=True)

    @classmethod
    def from_config(cls, config: Config) -> "UniformSearch":
        """Create the strategy with the settings of a run."""
        return cls(config.decided("search_states"))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Sample m states and move the usable ones to the front; see `SearchControl.propose`."""
        states, usable = uniform_candidates(search, key, self.states)
        order = jnp.argsort(~usable)  # stable: usable states first, in the order drawn
        return Proposal.of(states[order], usable.sum())
