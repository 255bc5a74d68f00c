"""Plan from states sampled uniformly within the bounds of the state space."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl
from freqdyna.search_control.registry import register


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
        shape = (self.states, search.low.shape[0])
        states = jax.random.uniform(key, shape, minval=search.low, maxval=search.high)
        states = jax.vmap(search.on_manifold)(states)
        usable = jax.vmap(lambda s: search.contains(s) & ~search.terminal(s))(states)
        order = jnp.argsort(~usable)  # stable: usable states first, in the order drawn
        return Proposal.of(states[order], usable.sum())
