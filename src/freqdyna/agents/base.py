"""The interface of an agent: what training and evaluation require."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freqdyna.agents.diagnostics import Diagnostics
from freqdyna.envs.space import Action, Space


class AgentState(eqx.Module):
    """What the state of every agent contains."""

    diagnostics: eqx.AbstractVar[Diagnostics]


State = TypeVar("State", bound=AgentState)


class Agent(eqx.Module, Generic[State]):
    """An agent as pure functions of the state of one seed."""

    env: eqx.AbstractVar[Space]

    @abc.abstractmethod
    def init(self, key: PRNGKeyArray) -> State:
        """The state before the first step."""

    @abc.abstractmethod
    def step(self, state: State, t: Int[Array, ""]) -> State:
        """One environment step, including all learning.

        Args:
            state: The state of the seed.
            t: The number of steps taken before, shape ().

        """

    @abc.abstractmethod
    def act(
        self,
        state: State,
        observation: Float[Array, " n"],
        epsilon: float | Float[Array, ""],
        key: PRNGKeyArray,
    ) -> Action:
        """The action of the current policy.

        Args:
            state: The state of the seed.
            observation: Shape (n,).
            epsilon: The amount of exploration, from 0 (greedy) to 1 (random).
            key: A random key.

        """

    @abc.abstractmethod
    def metrics(self, state: State) -> dict[str, Array]:
        """Diagnostics since the last evaluation by name, each a scalar."""

    @abc.abstractmethod
    def snapshot(self, state: State, t: Int[Array, ""], key: PRNGKeyArray) -> dict[str, Array]:
        """What a snapshot after `t` steps records, by name; see `docs/metrics.md`."""

    @abc.abstractmethod
    def parameters(self, state: State) -> Float[Array, " p"]:
        """The learned parameters as one flat vector, shape (p,)."""

    @abc.abstractmethod
    def with_parameters(self, state: State, parameters: Float[Array, " p"]) -> State:
        """The state with other learned parameters, such as those of another run.

        Args:
            state: The state of the seed.
            parameters: What `parameters` returned, shape (p,).

        """

    @property
    @abc.abstractmethod
    def layer_sizes(self) -> tuple[int, ...]:
        """Widths of the network's layers; empty for an agent without a network."""
