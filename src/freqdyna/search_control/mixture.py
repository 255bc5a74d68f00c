"""Several search-controls at once, by given shares."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.envs.space import Space
from freqdyna.search_control.base import SEARCH_CONTROLS, Proposal, Search, SearchControl, register


@register("mixture")
class MixtureSearch(SearchControl):
    """States of several search-controls, by given shares."""

    parts: tuple[SearchControl, ...]
    """The search-controls, each of which finds its share of the m states."""

    @classmethod
    def from_config(cls, config: Config) -> "MixtureSearch":
        """Create the strategy with the settings of a run."""
        names = config.mixture
        shares = config.mixture_shares or (1.0,) * len(names)
        if len(shares) != len(names):
            raise FreqdynaError(
                f"mixture_shares has {len(shares)} shares, but mixture names {len(names)} "
                "search-controls; give one share for each, or none"
            )
        counts = apportioned(config.decided("search_states"), shares)
        return cls(
            tuple(
                part_of(name, replace(config, search_states=count))
                for name, count in zip(names, counts, strict=True)
                if count
            )
        )

    def init(self, space: Space, key: PRNGKeyArray) -> Any:
        """The memory of each part; see `SearchControl.init`."""
        keys = jax.random.split(key, len(self.parts))
        return tuple(part.init(space, k) for part, k in zip(self.parts, keys, strict=True))

    def propose(self, search: Search, key: PRNGKeyArray) -> Proposal:
        """Ask every part; see `SearchControl.propose`."""
        found = self.ask(search, search.memory, key)
        states = jnp.concatenate([one.states for one in found])
        usable = jnp.concatenate([one.proposed() for one in found])
        order = jnp.argsort(~usable)  # stable: proposed states first
        memory = tuple(one.memory for one in found)
        return Proposal(states[order], usable.sum(), *statistics(found), memory=memory)

    def ask(
        self, search: Search, memories: tuple[Any, ...], key: PRNGKeyArray
    ) -> tuple[Proposal, ...]:
        """The proposal of each part.

        Args:
            search: What the search-control was given.
            memories: The memory of each part.
            key: A random key.

        """
        keys = jax.random.split(key, len(self.parts))
        return tuple(
            part.propose(replace(search, memory=memory), k)
            for part, memory, k in zip(self.parts, memories, keys, strict=True)
        )


def statistics(
    found: tuple[Proposal, ...],
) -> tuple[Int[Array, ""], Int[Array, ""], Int[Array, ""]]:
    """The sums of `Proposal.iterations`, `restarts` and `vanished`."""

    def total(name: str) -> Int[Array, ""]:
        return jnp.asarray(sum(getattr(one, name) for one in found))

    return total("iterations"), total("restarts"), total("vanished")


def part_of(name: str, config: Config) -> SearchControl:
    """The search-control of this name, as a part of another one.

    Args:
        name: A registered name; no code is imported by it.
        config: The settings of the part.

    """
    if name not in SEARCH_CONTROLS:
        raise unknown_name("search-control in mixture", name, SEARCH_CONTROLS)
    strategy = SEARCH_CONTROLS[name]
    if strategy.proposes_actions or issubclass(strategy, MixtureSearch):
        raise FreqdynaError(
            f"mixture names {name!r}; its parts must propose states without actions, and must not "
            "be mixtures themselves"
        )
    return SEARCH_CONTROLS.make(strategy, config)


def apportioned(total: int, shares: tuple[float, ...]) -> list[int]:
    """Integers in proportion to shares, whose sum is `total` (largest remainders)."""
    exact = [total * share / sum(shares) for share in shares]
    counts = [int(number) for number in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: counts[i] - exact[i])
    for i in by_remainder[: total - sum(counts)]:
        counts[i] += 1
    return counts
