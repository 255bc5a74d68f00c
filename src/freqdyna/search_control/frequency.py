"""The paper's search-control: climb the local frequency of V, or V itself (its Algorithm 1)."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.core import unrolled
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.hill_climb import VANISHED, HillClimb

FREQUENCY, VALUE = 0, 1


@register("frequency")
class FrequencySearch(SearchControl):
    """States along climbs of the local frequency g(s), or of V(s).

    With probability p a climb follows g from a state in the queue, and otherwise V from a visited
    state. Climbs of g therefore start where the value is already high.
    """

    climb_rules: ClassVar[tuple[str, ...]] = ("frequency", "value")  # FREQUENCY, VALUE
    climb: HillClimb
    probability: float
    """p: the probability that a climb follows the local frequency."""
    gradient_weight: float
    """η₁ in g = η₁‖∇V‖² + η₂‖H_V‖²_F."""
    hessian_weight: float
    """η₂."""
    network: str = eqx.field(static=True)
    """Whether g is computed with the "online" or the "target" network; V is always online."""
    restart_rule: str = eqx.field(static=True, default="new")
    """Whether a restarted climb starts in a state for its "new" rule or for the "previous" one."""
    vanishing: str = eqx.field(static=True, default="sum")
    """Whether ∇g counts as zero if the "sum" of its terms vanishes, or "each_term" separately."""

    @classmethod
    def from_config(cls, config: Config) -> "FrequencySearch":
        """Create the strategy with the settings of a run."""
        return cls(
            HillClimb.from_config(config),
            config.frequency_probability,
            config.gradient_weight,
            config.hessian_weight,
            config.frequency_network,
            config.climb_restart_rule,
            config.climb_vanishing,
        )

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb g or V; see `SearchControl.propose`."""
        rule_key, queue_key, visited_key, climb_key = jax.random.split(key, 4)
        rules = self.drawn_rules(search, rule_key, self.climb.limit)
        of_start = rules
        if self.restart_rule == "previous":
            of_start = jnp.concatenate([rules[:1], rules[:-1]])
        starts = drawn_starts(search, of_start, queue_key, visited_key)
        directions = partial(self.directions, search)
        return self.climb(search, directions, starts, rules, climb_key, len(self.climb_rules))

    def drawn_rules(self, search: Search, key: PRNGKeyArray, count: int) -> Int[Array, " count"]:
        """The rule of each of `count` climbs, FREQUENCY with probability p."""
        # While the queue is empty, all climbs follow V from visited states.
        probability = jnp.where(search.queue_is_empty, 0.0, self.probability)
        return jnp.where(jax.random.uniform(key, (count,)) < probability, FREQUENCY, VALUE)

    def directions(self, search: Search, state: State) -> Float[Array, "2 n"]:
        """The gradients of g and of V at a state, in the order of the rules."""
        weights = self.gradient_weight, self.hessian_weight
        slope, value_slope = search.slopes(state, *weights)
        slopes = search.target_slopes if self.network == "target" else search.slopes
        if self.vanishing == "each_term":
            by_gradient, _ = slopes(state, self.gradient_weight, 0.0)
            by_hessian, _ = slopes(state, 0.0, self.hessian_weight)
            slope = _unless_vanished(by_gradient) + _unless_vanished(by_hessian)
        elif self.network == "target":
            slope, _ = slopes(state, *weights)
        return jnp.stack([slope, value_slope])


def drawn_starts(
    search: Search, rules: Int[Array, " k"], queue_key: PRNGKeyArray, visited_key: PRNGKeyArray
) -> Float[Array, "k n"]:
    """Where climbs start: in the queue for the rule FREQUENCY, in visited states for VALUE.

    Args:
        search: What the search-control was given.
        rules: The rule of each climb, shape (k,).
        queue_key: A random key for states of the queue.
        visited_key: A random key for visited states.

    """
    return jnp.where(
        rules[:, None] == FREQUENCY,
        search.queued(queue_key, len(rules)),
        search.visited(visited_key, len(rules)),
    )


def _unless_vanished(slope: State) -> State:
    """The gradient, or zero if it is shorter than VANISHED or not finite."""
    length = unrolled.norm(slope)
    return jnp.where(jnp.isfinite(length) & (length >= VANISHED), slope, 0.0)


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
