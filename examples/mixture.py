"""A search-control of others: the states of several search-controls at once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.envs import Space
from freqdyna.search_control import Frequency, Proposal, Search, SearchControl, Uniform


class Mixture(SearchControl):
    """The states of several search-controls, which must propose states without actions."""

    parts: tuple[SearchControl, ...] = (Uniform(states=10), Frequency(states=10))

    def init(self, space: Space, key: PRNGKeyArray) -> Any:
        """The memory of each part."""
        keys = jax.random.split(key, len(self.parts))
        return tuple(part.init(space, k) for part, k in zip(self.parts, keys, strict=True))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Everything that the parts propose."""
        proposals = self.ask(search, search.memory, key)
        states = jnp.concatenate([proposal.states for proposal in proposals])
        usable = jnp.concatenate([proposal.proposed() for proposal in proposals])
        memory = tuple(proposal.memory for proposal in proposals)
        return together(proposals, states, usable, memory)

    def ask(self, search: Search, memories: Sequence[Any], key: PRNGKeyArray) -> list[Proposal]:
        """The proposal of each part, which sees its own memory."""
        keys = jax.random.split(key, len(self.parts))
        return [
            part.propose(replace(search, memory=memory), k)
            for part, memory, k in zip(self.parts, memories, keys, strict=True)
        ]


def together(
    proposals: Sequence[Proposal],
    states: Float[Array, "m n"],
    usable: Bool[Array, " m"],
    memory: Any,
) -> Proposal:
    """A proposal of the usable states, with the sums of the statistics of all proposals."""
    order = jnp.argsort(~usable)  # stable: usable states first

    def total(name: str) -> Int[Array, ""]:
        return jnp.asarray(sum(getattr(proposal, name) for proposal in proposals))

    numbers = total("iterations"), total("restarts"), total("vanished")
    return Proposal(states[order], usable.sum(), *numbers, memory=memory)
