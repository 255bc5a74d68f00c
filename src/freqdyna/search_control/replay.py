"""Visited states: the simplest search-control, which the paper argues gains nothing over ER."""

import equinox as eqx
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl
from freqdyna.search_control.registry import register


@register("replay")
class ReplaySearch(SearchControl):
    """States drawn from the experience replay."""

    states: int = eqx.field(static=True)

    @classmethod
    def from_config(cls, config: Config) -> "ReplaySearch":
        """The strategy with the configuration's number of states."""
        assert config.search_states is not None
        return cls(config.search_states)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Draw m visited states."""
        return Proposal.of(search.visited(key, self.states))
