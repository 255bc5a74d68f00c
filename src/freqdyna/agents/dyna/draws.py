"""Samples from the replay buffer and the search-control queue of one seed."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Shaped, UInt32

from freqdyna.agents.dyna.queue import Queue
from freqdyna.agents.replay.base import Replay
from freqdyna.envs.space import Space
from freqdyna.envs.transition import Transition


@dataclass(frozen=True)
class Draws:
    """Both buffers at one time step; every sample is a function of random bits, a word for each."""

    space: Space
    replay: Replay[Any]
    stored: Any
    """The state of the replay buffer."""
    queue: Queue
    t: Int[Array, ""]
    """The number of steps taken before; the transition of this step is stored already."""

    def rows(self, bits: UInt32[Array, " k"]) -> Float[Array, "k width"]:
        """Packed transitions from the replay buffer."""
        return self.replay.sample(self.stored, bits, self.t + 1)[0]

    def visited(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """States from the replay buffer."""
        return self.rows(bits)[:, : self.space.observation_size]

    def transitions(self, bits: UInt32[Array, " k"]) -> Transition:
        """Transitions from the replay buffer, with k rows in every field."""
        continuous = len(self.space.action_low)
        return jax.vmap(lambda row: Transition.unpack(row, continuous))(self.rows(bits))

    def queued(self, bits: UInt32[Array, " k"]) -> Float[Array, "k n"]:
        """States from the queue, or visited states while it is empty."""
        visited = self.visited(bits)
        return jnp.where(self.queue.is_empty(), visited, self.queue.sample(bits))

    def queued_actions(self, bits: UInt32[Array, " k"]) -> Shaped[Array, "k ..."]:
        """The actions of the states that `queued` returns for the same bits."""
        taken = self.transitions(bits).action
        return jnp.where(self.queue.is_empty(), taken, self.queue.sample_actions(bits))
