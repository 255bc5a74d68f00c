"""HC-Dyna: climb the value function from visited states (Pan et al., 2019; the paper's A.3)."""

from jaxtyping import PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, register
from freqdyna.search_control.hill_climb import HillClimb


@register("value")
class ValueSearch(SearchControl):
    """States along climbs of V(s), from visited states (HC-Dyna)."""

    climb: HillClimb

    @classmethod
    def from_config(cls, config: Config) -> "ValueSearch":
        """Create the strategy with the settings of a run."""
        return cls(HillClimb.from_config(config))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb V; see `SearchControl.propose`."""
        return self.climb.from_visited(search, search.value, key)
