"""The interface of a model (the paper's M): the outcome of an action in any state."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.envs.space import Action

ModelState = TypeVar("ModelState")

Outcome = tuple[Float[Array, " n"], Float[Array, ""], Bool[Array, ""]]
"""Next state, reward, and whether the next state is terminal."""


class Model(eqx.Module, Generic[ModelState]):
    """A model as pure functions, for one state."""

    learn_batch: eqx.AbstractClassVar[int]
    """Stored transitions that `learn` is given at each step; 0 for a model that does not learn."""

    @property
    @abc.abstractmethod
    def noise_size(self) -> int:
        """The number of standard normal random numbers that one query uses."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray) -> ModelState:
        """The state of the model before training."""

    @abc.abstractmethod
    def query(
        self,
        state: ModelState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """The outcome of an action.

        Args:
            state: The state of the model.
            s: The state of the environment, shape (n,).
            action: The action, shape () if discrete and (a,) if continuous.
            noise: Standard normal random numbers, shape (noise_size,).

        Returns:
            The next state, the reward, and whether the next state is terminal.

        """

    @abc.abstractmethod
    def learn(self, state: ModelState, rows: Float[Array, "batch width"]) -> ModelState:
        """Train on a mini-batch of packed transitions, shape (learn_batch, width)."""
