"""Prioritized sweeping: work backwards from where the value function has to change.

Moore and Atkeson (1993) and Peng and Williams (1993) keep a queue of states by priority and, after
a state was updated, add its predecessors. Here the queue is of state-action pairs, whose priority
is the temporal-difference error when they are added. They are drawn from the replay buffer, or are
predecessors of the states that left the queue at the step before. Actions must be discrete.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna import FreqdynaError
from freqdyna.envs import Space
from freqdyna.envs.space import Action, Transition
from freqdyna.search_control import Proposal, Search, SearchControl, State


class Pairs(eqx.Module):
    """State-action pairs with their priorities."""

    states: Float[Array, "k n"]
    actions: Int[Array, " k"]
    priorities: Float[Array, " k"]
    """|temporal-difference error|; −1 for an empty place."""

    def __getitem__(self, rows: Array | slice) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.states[rows], self.actions[rows], self.priorities[rows])


class Sweep(eqx.Module):
    """The memory of the search-control."""

    waiting: Pairs
    """The queue, by falling priority."""
    swept: Pairs
    """What left it at the last step."""


class PrioritizedSweeping(SearchControl):
    """State-action pairs of large temporal-difference error and their predecessors."""

    proposes_actions: ClassVar[bool] = True
    states: int = 20
    """How many pairs to propose per step (m)."""
    candidates: int = 200
    """How many stored transitions are scored per step, and the size of the queue."""

    def init(self, space: Space, key: PRNGKeyArray) -> Sweep:
        """An empty queue."""
        if not space.num_actions:
            raise FreqdynaError("PrioritizedSweeping needs discrete actions")
        count = self.candidates + self.states
        nowhere = jnp.zeros((count, space.observation_size))
        places = Pairs(nowhere, jnp.zeros(count, int), jnp.full(count, -1.0))
        return Sweep(places[self.states :], places[: self.states])

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Add to the queue, and take the first m pairs."""
        stored_key, predecessor_key = jax.random.split(key)
        memory: Sweep = search.memory
        seen = search.transitions(stored_key, self.candidates)
        priorities = jax.vmap(lambda one: _priority(search, one))(seen)
        before = _predecessors(search, memory.swept, predecessor_key)
        parts = memory.waiting, Pairs(seen.state, seen.action, priorities), before
        together = jax.tree.map(lambda *rows: jnp.concatenate(rows), *parts)
        queue = together[jax.lax.top_k(together.priorities, self.candidates + self.states)[1]]
        taken, waiting = queue[: self.states], queue[self.states :]
        count = (taken.priorities > 0).sum()
        return Proposal.of(taken.states, count, taken.actions, memory=Sweep(waiting, taken))


def _priority(search: Search, seen: Transition) -> Float[Array, ""]:
    """|temporal-difference error| of a transition; −1 if it is not finite."""
    value = (1 - seen.terminal) * search.target_value(seen.next_state)
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
        near = jnp.linalg.norm(reached - state) / jnp.sqrt(state.size) < search.mean_step
        usable = search.contains(before) & ~search.terminal(before) & near
        seen = Transition(before, action, reward, reached, terminal)
        return before, jnp.where(usable, _priority(search, seen), -1.0)

    k = search.num_actions
    states = jnp.repeat(swept.states, k, axis=0)
    actions = jnp.arange(len(states)) % k
    keys = jax.random.split(key, len(states))
    before, priorities = jax.vmap(predecessor)(states, actions, keys)
    # An empty place has no predecessor, and neither does a pair without an error.
    is_pair = jnp.repeat(swept.priorities > 0, k)
    return Pairs(before, actions, jnp.where(is_pair, priorities, -1.0))
