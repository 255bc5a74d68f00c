"""The contract of a model (the paper's M): it answers what (s, a) leads to, from any state."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.envs.space import Action

ModelState = TypeVar("ModelState")

Outcome = tuple[Float[Array, " n"], Float[Array, ""], Bool[Array, ""]]
"""Next state, reward, and whether the next state is terminal."""


class Model(eqx.Module, Generic[ModelState]):
    """Written for one state; `learn_batch` transitions are learned from at each step."""

    learn_batch: eqx.AbstractClassVar[int]
    """How many stored transitions `learn` wants at each step; 0 for a model that learns nothing."""

    @property
    @abc.abstractmethod
    def noise_size(self) -> int:
        """How many standard normal numbers one query consumes."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray) -> ModelState:
        """The model before any experience."""

    @abc.abstractmethod
    def query(
        self,
        state: ModelState,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """What `action` leads to from `s`."""

    @abc.abstractmethod
    def learn(self, state: ModelState, rows: Float[Array, "batch width"]) -> ModelState:
        """Learn from a mini-batch of packed transitions."""
