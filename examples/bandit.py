"""A search-control that learns how much to listen to each of several others.

A bandit gives each part a share of the m states. Once in a period it remembers the states of one
step; a period later it measures how much |temporal-difference error| has fallen at those of each
part, and moves the shares towards parts at whose states it falls most.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32
from mixture import Mixture, together

from freqdyna.envs import Space
from freqdyna.search_control import Frequency, Proposal, Search, SearchControl, Uniform

LEAST_SHARE = 0.05
"""Each part keeps this share, so that its gain is measured every time."""


class Memory(eqx.Module):
    """What the bandit has learned, and the states whose errors it measures again."""

    gains: Float[Array, " parts"]
    """The running mean of how much the error falls in a period at the states of each part."""
    scale: Float[Array, ""]
    """The running mean of the size of gains."""
    states: Float[Array, "m n"]
    owners: Int[Array, " m"]
    """The part that proposed each state; −1 for none."""
    errors: Float[Array, " m"]
    words: UInt32[Array, " words"]
    """The random key of the measurement, which is the same in the second one."""
    parts: tuple[Any, ...]

    def shares(self) -> Float[Array, " parts"]:
        """A softmax of gains, but no share is below the least."""
        by_gain = jax.nn.softmax(self.gains / jnp.maximum(self.scale, 1e-12))
        return LEAST_SHARE + (1 - LEAST_SHARE * self.gains.size) * by_gain


class Bandit(Mixture):
    """States of several search-controls, by shares learned from the errors that they reduce."""

    parts: tuple[SearchControl, ...] = (Uniform(), Frequency())
    states: int = 20
    """How many states to propose per step (m)."""
    period: int = 100
    """Steps between two measurements of the errors of the same states."""
    rate: float = 0.1
    """The weight of the newest gain in the running means."""

    def init(self, space: Space, key: PRNGKeyArray) -> Memory:
        """Equal shares, and no states to measure."""
        m, nothing = self.states, jnp.zeros(len(self.parts))
        states, nobody = jnp.zeros((m, space.observation_size)), jnp.full(m, -1, int)
        words, parts = jax.random.key_data(key), super().init(space, key)
        return Memory(nothing, jnp.zeros(()), states, nobody, jnp.zeros(m), words, parts)

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Ask every part, and take the first of its states, by its share."""
        part_key, share_key, error_key = jax.random.split(key, 3)
        memory: Memory = search.memory
        proposals = self.ask(search, memory.parts, part_key)
        owners = self._owners(memory.shares(), share_key)
        # The first part has the first places, and so on: the place among those of the same part.
        place = jnp.arange(self.states) - jnp.searchsorted(owners, owners, method="compare_all")
        offered = [one.states[jnp.minimum(place, len(one.states) - 1)] for one in proposals]
        states = jnp.stack(offered)[owners, jnp.arange(self.states)]
        usable = place < jnp.stack([one.count for one in proposals])[owners]
        parts = tuple(one.memory for one in proposals)

        def measured() -> Memory:
            words = jax.random.key_data(error_key)
            known, errors = jnp.where(usable, owners, -1), _errors(search, states, words)
            return Memory(*self._learned(search, memory), states, known, errors, words, parts)

        def unchanged() -> Memory:
            return eqx.tree_at(lambda m: m.parts, memory, parts, is_leaf=lambda x: x is None)

        after = jax.lax.cond(search.t % self.period == 0, measured, unchanged)
        return together(proposals, states, usable, after)

    def snapshot(self, memory: Memory) -> dict[str, Array]:
        """Record the shares."""
        return {"shares": memory.shares()}

    def _owners(self, shares: Float[Array, " parts"], key: PRNGKeyArray) -> Int[Array, " m"]:
        """The part of each of the m places: each has its share, rounded up or down at random."""
        ends = jnp.cumsum(shares)
        places = (jnp.arange(self.states) + jax.random.uniform(key)) / self.states
        owners = jnp.searchsorted(ends, places * ends[-1], side="right", method="compare_all")
        return jnp.minimum(owners, len(self.parts) - 1)

    def _learned(self, search: Search, memory: Memory) -> tuple[Array, Array]:
        """The running means of gains and of their size, after a new measurement."""
        fall = memory.errors - _errors(search, memory.states, memory.words)
        counted = (memory.owners == jnp.arange(len(self.parts))[:, None]) & jnp.isfinite(fall)
        count = counted.sum(axis=1)
        mean = jnp.where(counted, fall, 0.0).sum(axis=1) / jnp.maximum(count, 1)
        known = count > 0
        gains = memory.gains + self.rate * jnp.where(known, mean - memory.gains, 0.0)
        size = jnp.where(known, jnp.abs(mean), 0.0).sum() / jnp.maximum(known.sum(), 1)
        rate = jnp.where(memory.scale == 0, 1.0, self.rate) * known.any()
        return gains, memory.scale + rate * (size - memory.scale)


def _errors(search: Search, states: Array, words: UInt32[Array, " words"]) -> Float[Array, " m"]:
    """|temporal-difference error| at each state."""
    keys = jax.random.split(jax.random.wrap_key_data(words), len(states))
    return jnp.abs(jax.vmap(search.td_error)(states, keys))
