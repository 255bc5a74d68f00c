"""Prioritized sweeping: work backwards from where the value function has to change.

Moore and Atkeson (1993) and Peng and Williams (1993) keep a queue of states by priority and, after
a state was updated, add its predecessors. Here the queue is of state-action pairs, whose priority
is the temporal-difference error. Pairs enter it from the replay buffer, and as predecessors of the
states that left it at the step before, which the model finds.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from freqdyna.config import Count
from freqdyna.core import unrolled
from freqdyna.envs.space import Action, Space, Transition
from freqdyna.search_control.base import Proposal, Search, SearchControl, State, register
from freqdyna.search_control.sampling import random_action

CONTINUOUS_ACTIONS = 4
"""The number of random actions by which predecessors are sought if actions are continuous."""


class Pairs(eqx.Module):
    """State-action pairs with their priorities."""

    states: Float[Array, "k n"]
    actions: Shaped[Array, "k ..."]
    priorities: Float[Array, " k"]
    """|temporal-difference error| when the pair was added; −1 for none."""

    @staticmethod
    def none(count: int, space: Space) -> "Pairs":
        """Empty places."""
        shape = (count,) if space.num_actions else (count, space.action_size)
        actions = jnp.zeros(shape, int if space.num_actions else float)
        nowhere = jnp.zeros((count, space.observation_size))
        return Pairs(nowhere, actions, jnp.full(count, -1.0, float))

    def __getitem__(self, rows: slice) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.states[rows], self.actions[rows], self.priorities[rows])


class Sweep(eqx.Module):
    """The memory of the search-control."""

    waiting: Pairs
    """The queue, by falling priority."""
    swept: Pairs
    """What left it at the last step."""


@register("prioritized-sweeping")
class PrioritizedSweeping(SearchControl):
    """State-action pairs of large temporal-difference error and their predecessors."""

    proposes_actions: ClassVar[bool] = True
    states: Count = eqx.field(static=True, default=20)
    """How many pairs to propose per step (m)."""
    candidates: Count = eqx.field(static=True, default=200)
    """How many stored transitions are scored per step, and the size of the queue."""

    def init(self, space: Space, key: PRNGKeyArray) -> Sweep:
        """An empty queue; see `SearchControl.init`."""
        return Sweep(Pairs.none(self.candidates, space), Pairs.none(self.states, space))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Add to the queue and take the first m pairs; see `SearchControl.propose`."""
        stored_key, predecessor_key = jax.random.split(key)
        memory: Sweep = search.memory
        stored = search.transitions(stored_key, self.candidates)
        surprising = Pairs(
            stored.state, stored.action, jax.vmap(lambda seen: _priority(search, seen))(stored)
        )
        before = _predecessors(search, memory.swept, predecessor_key)
        queue = _merged([memory.waiting, surprising, before], self.candidates + self.states)
        taken, waiting = queue[: self.states], queue[self.states :]
        count = (taken.priorities > 0).sum()
        return Proposal.of(taken.states, count, taken.actions, memory=Sweep(waiting, taken))


def _priority(search: Search, seen: Transition) -> Float[Array, ""]:
    """|temporal-difference error| of a transition; −1 if it is not finite."""
    value = jnp.where(seen.terminal, 0.0, search.target_value(seen.next_state))
    error = seen.reward + search.discount * value - search.q(seen.state, seen.action)
    return jnp.where(jnp.isfinite(error), jnp.abs(error), -1.0)


def _predecessors(search: Search, swept: Pairs, key: PRNGKeyArray) -> Pairs:
    """For each action, the state from which the model leads to each state that was swept.

    It is sought where a step of the model from the swept state, taken backwards, ends. It counts if
    the model leads from there to less than a mean step from the swept state.
    """

    def predecessor(state: State, action: Action, key: PRNGKeyArray) -> tuple[State, Array]:
        ahead, *_ = search.outcome(state, action, key)
        before = search.on_manifold(2 * state - ahead)
        reached, reward, terminal = search.outcome(before, action, key)
        distance = unrolled.norm(reached - state) / jnp.sqrt(state.size)
        usable = search.contains(before) & ~search.terminal(before) & (distance < search.mean_step)
        seen = Transition(before, action, reward, reached, terminal)
        return before, jnp.where(usable, _priority(search, seen), -1.0)

    k = search.num_actions or CONTINUOUS_ACTIONS
    number = k * len(swept.states)
    action_key, outcome_key = jax.random.split(key)
    if search.num_actions:
        actions = jnp.arange(number) % k
    else:
        action_keys = jax.random.split(action_key, number)
        actions = jax.vmap(lambda one: random_action(search, one))(action_keys)
    states = jnp.repeat(swept.states, k, axis=0)
    keys = jax.random.split(outcome_key, number)
    before, priorities = jax.vmap(predecessor)(states, actions, keys)
    # An empty place has no predecessor, and neither does a pair without an error.
    is_pair = jnp.repeat(swept.priorities > 0, k)
    return Pairs(before, actions, jnp.where(is_pair, priorities, -1.0))


def _merged(parts: list[Pairs], size: int) -> Pairs:
    """The `size` pairs of highest priority, in this order."""
    together = jax.tree.map(lambda *rows: jnp.concatenate(rows), *parts)
    priorities, order = jax.lax.top_k(together.priorities, size)
    return Pairs(together.states[order], together.actions[order], priorities)
