"""The contract of a value learner: what the Dyna agent needs of it, for one seed."""

import abc
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.envs.space import Action
from freqdyna.frequency.network import StateValue

Complete = Callable[[Float[Array, "batch outputs"]], Float[Array, "batch width"]]
"""Packed transitions that begin at given states, from the network's outputs there."""


class LearnerState(eqx.Module):
    """What every learner's state has: parameters as one flat vector, which Adam takes in one go."""

    params: eqx.AbstractVar[Float[Array, " p"]]
    target_params: eqx.AbstractVar[Float[Array, " p"]]


Learned = TypeVar("Learned", bound=LearnerState)


class Learner(eqx.Module, Generic[Learned]):
    """A network, the actions that follow from it, and how it learns."""

    sizes: eqx.AbstractVar[tuple[int, ...]]
    """Layer widths of the network, from the observation size to its outputs."""

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray) -> Learned:
        """Before the first update."""

    @abc.abstractmethod
    def value(self, params: Float[Array, " p"]) -> StateValue:
        """V(s), which searches climb."""

    @abc.abstractmethod
    def act(
        self,
        params: Float[Array, " p"],
        state: Float[Array, " n"],
        epsilon: Float[Array, ""] | float,
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy, exploring by `epsilon`: 1 is all at random."""

    @abc.abstractmethod
    def draw_exploration(
        self,
        keys: tuple[PRNGKeyArray, PRNGKeyArray],
        shape: tuple[int, ...],
        epsilon: Float[Array, ""] | float,
    ) -> Any:
        """Random numbers for `shape` actions, drawn before the network's outputs are known."""

    @abc.abstractmethod
    def explored(self, outputs: Float[Array, " o"], exploration: Any) -> Action:
        """The action for the network's outputs at one state and one draw of exploration."""

    @abc.abstractmethod
    def update(
        self,
        state: Learned,
        states: Float[Array, "batch n"],
        complete: Complete,
        update_count: Int[Array, ""],
    ) -> tuple[Learned, Float[Array, " batch"]]:
        """One Adam step on a mini-batch; also its temporal differences.

        `complete` makes packed transitions of the states, given the network's outputs there: a
        simulated transition begins with an action of the policy, and the outputs serve for both.
        `update_count` is the number of updates including this one (the paper's n_tau).
        """
