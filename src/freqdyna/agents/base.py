"""The contract of an agent: what training and evaluation need of it."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.agents.diagnostics import Diagnostics
from freqdyna.envs.space import Action, Space


class AgentState(eqx.Module):
    """What every agent's state has."""

    diagnostics: eqx.AbstractVar[Diagnostics]


State = TypeVar("State", bound=AgentState)


class Agent(eqx.Module, Generic[State]):
    """Pure functions of one seed's state."""

    env: eqx.AbstractVar[Space]

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray) -> State:
        """The state before the first step."""

    @abc.abstractmethod
    def step(self, state: State, t: Int[Array, ""]) -> State:
        """One step in the environment, and all the learning that goes with it."""

    @abc.abstractmethod
    def act(
        self,
        state: State,
        observation: Float[Array, " n"],
        epsilon: float | Float[Array, ""],
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy, exploring by `epsilon`."""

    @abc.abstractmethod
    def metrics(self, state: State) -> dict[str, Array]:
        """Diagnostics since the last evaluation, each a scalar."""

    @abc.abstractmethod
    def snapshot(self, state: State, t: Int[Array, ""], key: PRNGKeyArray) -> dict[str, Array]:
        """What is worth looking at after `t` steps; `docs/metrics.md` says what is in it."""

    @abc.abstractmethod
    def parameters(self, state: State) -> Float[Array, " p"]:
        """What was learned, as one flat vector."""

    @property
    @abc.abstractmethod
    def layer_sizes(self) -> tuple[int, ...]:
        """Widths of the network's layers; empty for an agent without a network."""
