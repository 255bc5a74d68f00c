"""The contract of an experience-replay buffer (the paper's B)."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Float, Int, UInt32

ReplayState = TypeVar("ReplayState")


class Replay(eqx.Module, Generic[ReplayState]):
    """A buffer of packed transitions, oldest overwritten first.

    `count` is how many transitions were ever added. It is a function of the time step, so it is
    handed in rather than stored: in a batch of seeds it stays one number, and a write stays a
    cheap slice update. Sampling is a deterministic function of random bits, one word a draw,
    so that a training step draws all of its random numbers in one call.
    """

    capacity: eqx.AbstractVar[int]

    @abc.abstractmethod
    def init(self, width: int) -> ReplayState:
        """An empty buffer for rows of `width` numbers."""

    @abc.abstractmethod
    def add(
        self, state: ReplayState, row: Float[Array, " width"], count: Int[Array, ""]
    ) -> ReplayState:
        """Store one transition; `count` is the number added before it."""

    @abc.abstractmethod
    def sample(
        self, state: ReplayState, bits: UInt32[Array, " batch"], count: Int[Array, ""]
    ) -> tuple[Float[Array, "batch width"], Int[Array, " batch"]]:
        """Rows drawn with replacement, and where they stand; `count` must be at least 1."""

    @abc.abstractmethod
    def update_priorities(
        self,
        state: ReplayState,
        indices: Int[Array, " batch"],
        differences: Float[Array, " batch"],
    ) -> ReplayState:
        """Take note of the temporal differences of the transitions that were just learned from."""
