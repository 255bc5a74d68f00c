"""Several search-controls at once, by shares that are learned.

Which states are worth planning from changes during training. A bandit gives each search-control a
share of the m states. From time to time it remembers the states of one step; after a period it
measures how much |temporal-difference error| has fallen at those of each search-control.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from freqdyna.config import Config
from freqdyna.envs.space import Space
from freqdyna.search_control.base import Proposal, Search, register
from freqdyna.search_control.mixture import MixtureSearch, part_of, statistics

LEAST_SHARE = 0.05
"""Each part keeps this share, so that its gain is measured every time; see `shares`."""


class Sample(eqx.Module):
    """The states of one step, whose errors are measured again after a period."""

    states: Float[Array, "m n"]
    owners: Int[Array, " m"]
    """The index of the part that proposed each state; −1 for none."""
    errors: Float[Array, " m"]
    """|temporal-difference error| at that step."""
    key: UInt32[Array, " words"]
    """The random numbers of the measurement, which are the same in the second one."""


class Bandit(eqx.Module):
    """The memory of the search-control."""

    gains: Float[Array, " parts"]
    """The running mean of how much the error falls in a period at the states of each part."""
    scale: Float[Array, ""]
    """The running mean of the size of gains, in units of which shares depend on them."""
    sample: Sample
    parts: tuple[Any, ...]
    """The memory of each part."""


@register("bandit")
class BanditSearch(MixtureSearch):
    """States of several search-controls, by shares learned from the errors that they reduce."""

    states: int = eqx.field(static=True)
    period: int = eqx.field(static=True)
    """The number of steps between two measurements of the errors of the same states."""
    rate: float
    """The weight of the newest gain in the running means."""

    @classmethod
    def from_config(cls, config: Config) -> "BanditSearch":
        """Create the strategy with the settings of a run."""
        parts = tuple(part_of(name, config) for name in config.mixture)
        m = config.decided("search_states")
        return cls(parts, m, config.bandit_period, config.bandit_rate)

    def init(self, space: Space, key: PRNGKeyArray) -> Bandit:
        """Equal shares; see `SearchControl.init`."""
        m = self.states
        nowhere = jnp.zeros((m, space.observation_size))
        sample = Sample(nowhere, jnp.full(m, -1, int), jnp.zeros(m), jax.random.key_data(key))
        return Bandit(jnp.zeros(len(self.parts)), jnp.zeros(()), sample, super().init(space, key))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Ask every part and take states by share; see `SearchControl.propose`."""
        part_key, share_key, error_key = jax.random.split(key, 3)
        memory: Bandit = search.memory
        found = self.ask(search, memory.parts, part_key)
        owners = self._owners(memory, share_key)
        # The first part has the first places, and so on: the place among those of the same part.
        place = jnp.arange(self.states) - jnp.searchsorted(owners, owners, method="compare_all")
        offered = [one.states[jnp.minimum(place, len(one.states) - 1)] for one in found]
        states = jnp.stack(offered)[owners, jnp.arange(self.states)]
        usable = place < jnp.stack([jnp.asarray(one.count) for one in found])[owners]

        def measured() -> tuple[Array, Array, Sample]:
            after = _errors(search, memory.sample.states, memory.sample.key)
            words = jax.random.key_data(error_key)
            sample = Sample(
                states, jnp.where(usable, owners, -1), _errors(search, states, words), words
            )
            return *self._learned(memory, after), sample

        # t is the same for all seeds, so only one branch is executed.
        gains, scale, sample = jax.lax.cond(
            search.t % self.period == 0,
            measured,
            lambda: (memory.gains, memory.scale, memory.sample),
        )
        order = jnp.argsort(~usable)  # stable: usable states first
        parts = tuple(one.memory for one in found)
        return Proposal(
            states[order],
            usable.sum(),
            *statistics(found),
            memory=Bandit(gains, scale, sample, parts),
        )

    def snapshot(self, memory: Bandit) -> dict[str, Array]:
        """Record the shares."""
        return {"shares": shares(memory.gains, memory.scale)}

    def _owners(self, memory: Bandit, key: PRNGKeyArray) -> Int[Array, " m"]:
        """The part that each of the m places belongs to, in order.

        A part has its share of the places, rounded up or down at random.
        """
        ends = jnp.cumsum(shares(memory.gains, memory.scale))
        places = (jnp.arange(self.states) + jax.random.uniform(key)) / self.states
        owners = jnp.searchsorted(ends, places * ends[-1], side="right", method="compare_all")
        return jnp.minimum(owners, len(self.parts) - 1)

    def _learned(
        self, memory: Bandit, after: Float[Array, " m"]
    ) -> tuple[Float[Array, " parts"], Float[Array, ""]]:
        """The running means after the errors of the sample were measured again."""
        fall = memory.sample.errors - after
        part = jnp.arange(len(self.parts))[:, None]
        counted = (memory.sample.owners == part) & jnp.isfinite(fall)
        count = counted.sum(axis=1)
        mean = jnp.where(counted, fall, 0.0).sum(axis=1) / jnp.maximum(count, 1)
        known = (count > 0) & jnp.isfinite(mean)
        gains = memory.gains + self.rate * jnp.where(known, mean - memory.gains, 0.0)
        size = jnp.where(known, jnp.abs(mean), 0.0).sum() / jnp.maximum(known.sum(), 1)
        # The scale starts with the first measurement and gains start with zero, so that shares move
        # away from equal ones only as measurements agree.
        first = memory.scale == 0
        rate = jnp.where(known.any(), jnp.where(first, 1.0, self.rate), 0.0)
        return gains, memory.scale + rate * (size - memory.scale)


def _errors(
    search: Search, states: Float[Array, "m n"], words: UInt32[Array, " words"]
) -> Float[Array, " m"]:
    """|temporal-difference error| at each state."""
    keys = jax.random.split(jax.random.wrap_key_data(words), len(states))
    return jnp.abs(jax.vmap(search.td_error)(states, keys))


def shares(gains: Float[Array, " parts"], scale: Float[Array, ""]) -> Float[Array, " parts"]:
    """The share of each part: a softmax of its gain, but at least LEAST_SHARE.

    With more than ten parts, the least share is half of an equal one.

    Args:
        gains: The running mean of the gain of each part, shape (parts,).
        scale: The running mean of their size.

    """
    least = min(LEAST_SHARE, 0.5 / gains.size)
    by_gain = jax.nn.softmax(gains / jnp.maximum(scale, 1e-12))
    return least + (1 - least * gains.size) * by_gain
