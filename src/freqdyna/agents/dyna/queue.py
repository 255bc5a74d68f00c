"""The search-control queue (the paper's B_s): a ring buffer of states or state-action pairs."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped, UInt32

from freqdyna.agents.replay.ring import uniform_indices
from freqdyna.envs.space import Space
from freqdyna.search_control.base import Proposal


class Queue(eqx.Module):
    """The states to plan from."""

    rows: Float[Array, "capacity n"]
    count: Int[Array, ""]
    """States added so far; it differs between seeds, because a search may find fewer than m."""
    actions: Shaped[Array, "capacity ..."] | None = None
    """The action of each state, if the search-control proposes pairs."""

    @staticmethod
    def empty(capacity: int, space: Space, with_actions: bool = False) -> "Queue":
        """A queue without states.

        Args:
            capacity: The number of states that it can hold.
            space: The state and action space.
            with_actions: Whether it stores state-action pairs.

        """
        actions = None
        if with_actions:
            shape = () if space.num_actions else (space.action_size,)
            actions = jnp.zeros((capacity, *shape), int if space.num_actions else float)
        rows = jnp.zeros((capacity, space.observation_size))
        return Queue(rows, jnp.zeros((), int), actions)

    def is_empty(self) -> Bool[Array, ""]:
        """Whether no state has been added yet."""
        return self.count == 0

    def add(self, proposal: Proposal, space: Space) -> "Queue":
        """Add what a search found, except for states that are not finite or have no valid action.

        Args:
            proposal: What the search found.
            space: The action space.

        """
        capacity = self.rows.shape[0]
        stored = proposal.finite()
        if proposal.actions is not None:
            stored = stored & proposal.has_action(space)
        order = jnp.cumsum(stored) - 1  # among the stored states
        places = jnp.where(stored, (self.count + order) % capacity, capacity)
        rows = self.rows.at[places].set(proposal.states, mode="drop")
        # Avoid overflow; once the queue is full only the count modulo the capacity matters.
        count = self.count + stored.sum()
        actions = self.actions
        if actions is not None:
            actions = actions.at[places].set(proposal.actions, mode="drop")
        return Queue(rows, jnp.where(count >= 2 * capacity, count - capacity, count), actions)

    def sample(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """Sample states uniformly with replacement; zeros while the queue is empty.

        Args:
            bits: Random bits, one word per state, shape (k,).

        """
        return self.rows[self._sampled(bits)]

    def sample_actions(self, bits: UInt32[Array, " k"]) -> Shaped[Array, "k ..."]:
        """The actions of the states that `sample` returns for the same bits."""
        assert self.actions is not None
        return self.actions[self._sampled(bits)]

    def _sampled(self, bits: UInt32[Array, " k"]) -> Int[Array, " k"]:
        return uniform_indices(bits, jnp.clip(self.count, 1, self.rows.shape[0]))
