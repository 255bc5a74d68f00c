"""The paper's "unsuccessful trials": climb V(s) + g(s) or V(s) · g(s) (appendix A.4)."""

from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.hill_climb import HillClimb


@register("value-plus-frequency")
class ValuePlusFrequencySearch(SearchControl):
    """States along climbs of V(s) + g(s), from visited states."""

    climb: HillClimb
    gradient_weight: float
    hessian_weight: float

    @classmethod
    def from_config(cls, config: Config) -> "ValuePlusFrequencySearch":
        """Create the strategy with the settings of a run."""
        climb = HillClimb.from_config(config)
        return cls(climb, config.gradient_weight, config.hessian_weight)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb V + g; see `SearchControl.propose`."""
        weights = self.gradient_weight, self.hessian_weight

        def objective(state: State) -> Float[Array, ""]:
            at = search.derivatives(state)
            return at.value + at.frequency(*weights)

        return self.climb.from_visited(search, objective, key)


@register("value-times-frequency")
class ValueTimesFrequencySearch(SearchControl):
    """States along climbs of V(s) · g(s), from visited states."""

    climb: HillClimb
    gradient_weight: float
    hessian_weight: float

    @classmethod
    def from_config(cls, config: Config) -> "ValueTimesFrequencySearch":
        """Create the strategy with the settings of a run."""
        climb = HillClimb.from_config(config)
        return cls(climb, config.gradient_weight, config.hessian_weight)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb V · g; see `SearchControl.propose`."""
        weights = self.gradient_weight, self.hessian_weight

        def objective(state: State) -> Float[Array, ""]:
            at = search.derivatives(state)
            return at.value * at.frequency(*weights)

        return self.climb.from_visited(search, objective, key)
