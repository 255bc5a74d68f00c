"""Search-controls that sample states: uniformly, from the replay buffer, or by their error."""

from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Count, NotNegative
from freqdyna.envs.space import Action
from freqdyna.search_control.base import Proposal, Search, SearchControl, register


@register("replay")
class FromReplay(SearchControl):
    """States sampled from the replay buffer."""

    takes_derivatives: ClassVar[bool] = False
    states: Count = eqx.field(static=True, default=20)
    """How many states to propose per step (m)."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Sample m visited states; see `SearchControl.propose`."""
        return Proposal.of(search.visited(key, self.states))


@register("uniform")
class Uniform(SearchControl):
    """States sampled uniformly from the state space, excluding terminal ones."""

    takes_derivatives: ClassVar[bool] = False
    states: Count = eqx.field(static=True, default=20)
    """How many states to propose per step (m)."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Sample m states and move the usable ones to the front; see `SearchControl.propose`."""
        states, usable = uniform_candidates(search, key, self.states)
        order = jnp.argsort(~usable)  # stable: usable states first, in the order drawn
        return Proposal.of(states[order], usable.sum())


@register("td-error")
class TDError(SearchControl):
    """States sampled in proportion to |temporal-difference error|, of candidates.

    It is what prioritized replay does for visited transitions (Schaul et al., 2016), for any state,
    because the model gives the outcome. The error is that of the step at which a state is proposed;
    planning may take the state from the queue thousands of steps later.
    """

    takes_derivatives: ClassVar[bool] = False
    states: Count = eqx.field(static=True, default=20)
    """How many states to propose per step (m)."""
    candidates: Count = eqx.field(static=True, default=50)
    """How many states are scored per step, all at once."""
    uniform: bool | None = eqx.field(static=True, default=None)
    """Whether candidates are uniform in the state space, rather than near visited states. If unset:
    only if the state space is known, as with the true model."""
    reach: NotNegative = 5.0
    """How far candidates near visited states are from them, in steps of the environment."""

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Score the candidates with the model and sample m; see `SearchControl.propose`."""
        candidate_key, error_key, choice_key = jax.random.split(key, 3)
        uniform = search.knows_state_space if self.uniform is None else self.uniform
        draw = uniform_candidates if uniform else partial(nearby_candidates, reach=self.reach)
        states, usable = draw(search, candidate_key, self.candidates)
        error_keys = jax.random.split(error_key, self.candidates)
        errors = jnp.abs(jax.vmap(search.td_error)(states, error_keys))
        weights = jnp.where(usable, errors, 0.0)
        chosen, any_weight = sample_in_proportion(weights, choice_key, self.states)
        return Proposal.of(states[chosen], jnp.where(any_weight, self.states, 0))


def uniform_candidates(
    search: Search, key: PRNGKeyArray, count: int
) -> tuple[Float[Array, "count n"], Bool[Array, " count"]]:
    """Sample states uniformly within the bounds of the state space.

    Also returns which of them belong to the state space and are not terminal.
    """
    shape = (count, search.low.shape[0])
    states = jax.random.uniform(key, shape, minval=search.low, maxval=search.high)
    states = jax.vmap(search.on_manifold)(states)
    return states, jax.vmap(search.usable)(states)


def nearby_candidates(
    search: Search, key: PRNGKeyArray, count: int, reach: float | Float[Array, ""]
) -> tuple[Float[Array, "count n"], Bool[Array, " count"]]:
    """Sample visited states, and move each by `reach` times the step of another transition.

    Also returns which of them belong to the state space and are not terminal.
    """
    both = search.transitions(key, 2 * count)
    steps = (both.next_state - both.state)[count:]
    states = jax.vmap(search.project)(both.state[:count] + reach * steps)
    return states, jax.vmap(search.usable)(states)


def sample_in_proportion(
    weights: Float[Array, " k"], key: PRNGKeyArray, count: int
) -> tuple[Int[Array, " count"], Bool[Array, ""]]:
    """Sample indices in proportion to weights, with replacement.

    Weights that are not finite or below zero count as zero. Also returns whether any weight is
    above zero; otherwise the indices mean nothing.
    """
    weights = jnp.where(jnp.isfinite(weights), jnp.maximum(weights, 0.0), 0.0)
    # Relative to the largest, so that the sum of very large or small weights is an ordinary number.
    weights = weights / jnp.clip(weights.max(), 1e-30, 1e30)
    ends = jnp.cumsum(weights)
    # Uniform numbers are in [0, 1), so an index never has weight zero, but rounding may reach the
    # end: the last index with a weight is the greatest that is returned.
    points = jax.random.uniform(key, (count,)) * ends[-1]
    chosen = jnp.searchsorted(ends, points, side="right", method="compare_all")
    last = jnp.max(jnp.where(weights > 0, jnp.arange(weights.size), 0))
    return jnp.minimum(chosen, last), ends[-1] > 0


def random_action(search: Search, key: PRNGKeyArray) -> Action:
    """A uniformly random action."""
    if search.num_actions:
        return jax.random.randint(key, (), 0, search.num_actions)
    return jax.random.uniform(
        key, search.action_low.shape, minval=search.action_low, maxval=search.action_high
    )
