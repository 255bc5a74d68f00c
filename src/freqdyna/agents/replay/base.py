"""The interface of a replay buffer (the paper's B)."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Float, Int, UInt32

from freqdyna.config import Component

ReplayState = TypeVar("ReplayState")


class Replay(Component, eqx.Module, Generic[ReplayState]):
    """A buffer of packed transitions; the oldest are overwritten first.

    `count` is the number of transitions added so far. It is a function of the time step, so it is
    passed in rather than stored: it is then the same number for all seeds of a batch, and a write
    is a cheap slice update. Sampling is a deterministic function of random bits, one word per
    sample, so that a training step draws all of its random numbers in one call.
    """

    capacity: eqx.AbstractVar[int]

    @abc.abstractmethod
    def init(self, width: int) -> ReplayState:
        """An empty buffer for rows of `width` numbers."""

    @abc.abstractmethod
    def add(
        self, state: ReplayState, row: Float[Array, " width"], count: Int[Array, ""]
    ) -> ReplayState:
        """Store one transition.

        Args:
            state: The buffer.
            row: The packed transition, shape (width,).
            count: The number of transitions added before it, shape ().

        """

    @abc.abstractmethod
    def sample(
        self, state: ReplayState, bits: UInt32[Array, " batch"], count: Int[Array, ""]
    ) -> tuple[Float[Array, "batch width"], Int[Array, " batch"]]:
        """Sample transitions with replacement.

        Args:
            state: The buffer.
            bits: Random bits, one word per sample, shape (batch,).
            count: The number of transitions added so far, at least 1; shape ().

        Returns:
            Packed transitions, shape (batch, width), and their indices, shape (batch,).

        """

    @abc.abstractmethod
    def update_priorities(
        self,
        state: ReplayState,
        indices: Int[Array, " batch"],
        differences: Float[Array, " batch"],
    ) -> ReplayState:
        """Update the priorities of transitions after they were used in an update.

        Args:
            state: The buffer.
            indices: The indices that `sample` returned, shape (batch,).
            differences: Their temporal-difference errors, shape (batch,).

        """
