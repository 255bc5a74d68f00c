"""Plan from visited states: the paper argues that this gains nothing over ER."""

import equinox as eqx
from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, register


@register("replay")
class ReplaySearch(SearchControl):
    """States sampled from the replay buffer."""

    states: int = eqx.field(static=True)

    @classmethod
    def from_config(cls, config: Config) -> "ReplaySearch":
        """Create the strategy with the settings of a run."""
        return cls(config.decided("search_states"))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Sample m visited states; see `SearchControl.propose`."""
        return Proposal.of(search.visited(key, self.states))
