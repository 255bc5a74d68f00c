"""Visited states: the simplest search-control, which the paper argues gains nothing over ER."""

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl


class ReplaySearch(SearchControl):
    """States drawn from the experience replay."""

    states: int = eqx.field(static=True)

    @staticmethod
    def from_config(config: Config) -> "ReplaySearch":
        """The strategy with the configuration's number of states."""
        states = config.resolved().search_states
        assert states is not None
        return ReplaySearch(states)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Draw m visited states."""
        return Proposal.of(search.draw_visited(jax.random.bits(key, (self.states,), jnp.uint32)))
