"""Climbs of V, of the local frequency g, of its two terms, and of V and g combined.

The paper's search-control climbs g or V (its Algorithm 1); HC-Dyna climbs V (Pan et al., 2019; the
paper's A.3); the combinations are its "unsuccessful trials" (A.4).
"""

import abc
from functools import partial
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import NotNegative, Share
from freqdyna.core import unrolled
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.climb import VANISHED, HillClimb

FREQUENCY, VALUE = 0, 1
Weights = tuple[float | Float[Array, ""], float | Float[Array, ""]]
"""η₁ and η₂, which are arrays inside a compiled program that takes them as arguments."""


@register("value")
class Value(HillClimb):
    """States along climbs of V(s), from visited states (HC-Dyna)."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb V; see `SearchControl.propose`."""
        return self.climb_from_visited(search, search.value, key)


class Weighted(SearchControl):
    """The weights of the two terms of g = η₁‖∇V‖² + η₂‖H_V‖²_F."""

    gradient_weight: NotNegative = 1.0
    """The weight of ‖∇V‖² in the local frequency (η₁)."""
    hessian_weight: NotNegative = 1.0
    """The weight of ‖H_V‖²_F in the local frequency (η₂)."""

    @property
    def weights(self) -> Weights:
        """η₁ and η₂."""
        return self.gradient_weight, self.hessian_weight


class FrequencyClimb(HillClimb):
    """Climbs of g or of V, one after the other.

    With probability p a climb follows g from a state in the queue, and otherwise V from a visited
    state. Climbs of g therefore start where the value is already high.
    """

    climb_rules: ClassVar[tuple[str, ...]] = ("frequency", "value")  # FREQUENCY, VALUE
    probability: Share = 0.5
    """The probability that a climb follows the local frequency rather than the value (p)."""
    network: Literal["online", "target"] = eqx.field(static=True, default="online")
    """Whether g is computed with the "online" or the "target" network; V is always online."""
    vanishing: Literal["sum", "each_term"] = eqx.field(static=True, default="sum")
    """Whether ∇g counts as zero if the "sum" of its terms is shorter than 1e-5, or "each_term"
    separately."""
    restart_rule: Literal["new", "previous"] = eqx.field(static=True, default="new")
    """Whether a restarted climb starts in a state for its "new" rule or for the "previous" one."""

    @property
    @abc.abstractmethod
    def weights(self) -> Weights:
        """The weights of the two terms of g."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb g or V; see `SearchControl.propose`."""
        rule_key, queue_key, visited_key, climb_key = jax.random.split(key, 4)
        # While the queue is empty, all climbs follow V from visited states.
        probability = jnp.where(search.queue_is_empty, 0.0, self.probability)
        chance = jax.random.uniform(rule_key, (self.limit,))
        rules = jnp.where(chance < probability, FREQUENCY, VALUE)
        of_start = rules
        if self.restart_rule == "previous":
            of_start = jnp.concatenate([rules[:1], rules[:-1]])
        starts = jnp.where(
            of_start[:, None] == FREQUENCY,
            search.queued(queue_key, self.limit),
            search.visited(visited_key, self.limit),
        )
        directions = partial(self.directions, search)
        return self.climb(search, directions, starts, rules, climb_key, len(self.climb_rules))

    def directions(self, search: Search, state: State) -> Float[Array, "2 n"]:
        """The gradients of g and of V at a state, in the order of the rules."""
        weights = self.weights
        slope, value_slope = search.slopes(state, *weights)
        slopes = search.target_slopes if self.network == "target" else search.slopes
        if self.vanishing == "each_term":
            by_gradient, _ = slopes(state, weights[0], 0.0)
            by_hessian, _ = slopes(state, 0.0, weights[1])
            slope = _unless_vanished(by_gradient) + _unless_vanished(by_hessian)
        elif self.network == "target":
            slope, _ = slopes(state, *weights)
        return jnp.stack([slope, value_slope])


def _unless_vanished(slope: State) -> State:
    """The gradient, or zero if it is shorter than VANISHED or not finite."""
    length = unrolled.norm(slope)
    return jnp.where(jnp.isfinite(length) & (length >= VANISHED), slope, 0.0)


@register("frequency")
class Frequency(Weighted, FrequencyClimb):
    """States along climbs of the local frequency g(s), or of V(s)."""


@register("gradient-norm")
class GradientNorm(FrequencyClimb):
    """States along climbs of ‖∇V(s)‖², or of V(s)."""

    weights: ClassVar[Weights] = (1.0, 0.0)


@register("hessian-norm")
class HessianNorm(FrequencyClimb):
    """States along climbs of ‖H_V(s)‖²_F, or of V(s)."""

    weights: ClassVar[Weights] = (0.0, 1.0)


@register("value-plus-frequency")
class ValuePlusFrequency(Weighted, HillClimb):
    """States along climbs of V(s) + g(s), from visited states."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb V + g; see `SearchControl.propose`."""

        def objective(state: State) -> Float[Array, ""]:
            at = search.derivatives(state)
            return at.value + at.frequency(*self.weights)

        return self.climb_from_visited(search, objective, key)


@register("value-times-frequency")
class ValueTimesFrequency(Weighted, HillClimb):
    """States along climbs of V(s) · g(s), from visited states."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Climb V · g; see `SearchControl.propose`."""

        def objective(state: State) -> Float[Array, ""]:
            at = search.derivatives(state)
            return at.value * at.frequency(*self.weights)

        return self.climb_from_visited(search, objective, key)
