"""States drawn uniformly from the bounds of the state space."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl
from freqdyna.search_control.registry import register


@register("uniform")
class UniformSearch(SearchControl):
    """States drawn uniformly from the state space; terminal ones are omitted."""

    states: int = eqx.field(static=True)

    @classmethod
    def from_config(cls, config: Config) -> "UniformSearch":
        """The strategy with the configuration's number of states."""
        assert config.search_states is not None
        return cls(config.search_states)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Draw m states and move the usable ones to the front."""
        shape = (self.states, search.low.shape[0])
        states = jax.random.uniform(key, shape, minval=search.low, maxval=search.high)
        states = jax.vmap(search.on_manifold)(states)
        usable = jax.vmap(lambda s: search.contains(s) & ~search.terminal(s))(states)
        order = jnp.argsort(~usable)  # stable: the usable first, in the order drawn
        return Proposal.of(states[order], usable.sum())
