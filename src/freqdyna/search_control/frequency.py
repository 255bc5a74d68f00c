"""The paper's search-control: climb the local frequency of V, or V itself (its Algorithm 1)."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.search_control.base import Proposal, Search, SearchControl, State
from freqdyna.search_control.hill_climb import HillClimb
from freqdyna.search_control.registry import register

FREQUENCY, VALUE = 0, 1


@register("frequency")
class FrequencySearch(SearchControl):
    """States along climbs of the local frequency g(s), or of V(s).

    With probability p a climb follows g from a state in the queue, and otherwise V from a visited
    state. Climbs of g therefore start where the value is already high.
    """

    climb: HillClimb
    probability: float
    """p: the probability that a climb follows the local frequency."""
    gradient_weight: float
    """η₁ in g = η₁‖∇V‖² + η₂‖H_V‖²_F."""
    hessian_weight: float
    """η₂."""
    network: str = eqx.field(static=True)
    """Whether g is computed with the "online" or the "target" network; V is always online."""

    @classmethod
    def from_config(cls, config: Config) -> "FrequencySearch":
        """Create the strategy with the settings of a run."""
        return cls(
            HillClimb.from_config(config),
            config.frequency_probability,
            config.gradient_weight,
            config.hessian_weight,
            config.frequency_network,
        )

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb g or V; see `SearchControl.propose`."""
        rule_key, queue_key, visited_key, climb_key = jax.random.split(key, 4)
        limit = self.climb.limit
        # While the queue is empty, all climbs follow V from visited states.
        probability = jnp.where(search.queue_is_empty, 0.0, self.probability)
        rules = jnp.where(jax.random.uniform(rule_key, (limit,)) < probability, FREQUENCY, VALUE)
        starts = jnp.where(
            rules[:, None] == FREQUENCY,
            search.queued(queue_key, limit),
            search.visited(visited_key, limit),
        )

        def directions(state: State) -> Float[Array, "2 n"]:
            weights = self.gradient_weight, self.hessian_weight
            slope, value_slope = search.slopes(state, *weights)
            if self.network == "target":
                slope, _ = search.target_slopes(state, *weights)
            return jnp.stack([slope, value_slope])

        return self.climb(search, directions, starts, rules, climb_key)


@register("gradient-norm")
class GradientNormSearch(FrequencySearch):
    """States along climbs of ‖∇V(s)‖², or of V(s)."""

    @classmethod
    def from_config(cls, config: Config) -> FrequencySearch:
        """Create the strategy with the settings of a run and only one of the two terms."""
        return super().from_config(replace(config, hessian_weight=0.0))


@register("hessian-norm")
class HessianNormSearch(FrequencySearch):
    """States along climbs of ‖H_V(s)‖²_F, or of V(s)."""

    @classmethod
    def from_config(cls, config: Config) -> FrequencySearch:
        """Create the strategy with the settings of a run and only one of the two terms."""
        return super().from_config(replace(config, gradient_weight=0.0))
