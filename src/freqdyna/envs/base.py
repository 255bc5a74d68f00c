"""The contract of an environment: pure functions over arrays, each environment its own exact model.

An environment has no state of its own. Because `transition` may be asked from any state, the same
object serves as the world the agent acts in and as the true model a planner queries.
"""

import abc
import dataclasses
import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.picture import Painter
from freqdyna.envs.space import Action, Space, State

Reward = Float[Array, ""]
Terminal = Bool[Array, ""]

__all__ = ["Action", "Environment", "Reward", "State", "Terminal"]


class Environment(Space):
    """A Markov decision process as pure functions.

    A subclass gives all these class variables and the abstract methods below, all written for one
    state; `vmap` them over many.
    """

    name: ClassVar[str]
    summary: eqx.AbstractClassVar[str]
    num_actions: ClassVar[int]
    low: ClassVar[np.ndarray]
    high: ClassVar[np.ndarray]
    knows_terminal: ClassVar[bool] = True
    noise_size: ClassVar[int] = 0
    """How many standard normal numbers one move consumes."""

    reward_noise: eqx.AbstractVar[float]
    """Standard deviation of the Gaussian noise added to every reward."""
    episode_limit: eqx.AbstractVar[int]
    """Steps after which an episode is cut (truncated, which is not a termination)."""

    def __check_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.type is float and not (_is_number(value) and math.isfinite(value)):
                raise FreqdynaError(f"{field.name} is {value!r}; it must be a finite number")
        if self.reward_noise < 0:
            raise FreqdynaError(f"reward_noise is {self.reward_noise}; it must be 0 or greater")
        if not isinstance(self.episode_limit, int) or self.episode_limit < 1:
            raise FreqdynaError(
                f"episode_limit is {self.episode_limit!r}; it must be an integer, 1 or greater"
            )

    @property
    def default_settings(self) -> dict[str, Any]:
        """What a run sets differently here: the environment's own limit, and `own_settings`."""
        return super().default_settings | {"episode_limit": self.episode_limit}

    def painter(self) -> Painter:
        """What draws states, for `freqdyna watch`; an environment need not have one."""
        raise FreqdynaError(
            f"env is {self.name!r}, which cannot be drawn: its class has no method painter"
        )

    @abc.abstractmethod
    def reset(self, key: PRNGKeyArray) -> State:
        """Draw a start state."""

    @abc.abstractmethod
    def move(self, state: State, action: Action, noise: Float[Array, " k"]) -> State:
        """Where `action` leads from `state`, given `noise_size` standard normal numbers."""

    @abc.abstractmethod
    def terminal(self, state: State) -> Terminal:
        """Whether the episode ends in `state`."""

    @abc.abstractmethod
    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """The mean reward of a transition."""

    def transition(
        self, state: State, action: Action, key: PRNGKeyArray
    ) -> tuple[State, Reward, Terminal]:
        """One step from any state: (next state, reward, whether the next state is terminal)."""
        return self.transition_from_noise(
            state, action, jax.random.normal(key, (1 + self.noise_size,))
        )

    def transition_from_noise(
        self, state: State, action: Action, noise: Float[Array, " k_plus_1"]
    ) -> tuple[State, Reward, Terminal]:
        """`transition` as a deterministic function of its `1 + noise_size` standard normals."""
        next_state = self.move(state, action, noise[1:])
        reward = self.reward(state, action, next_state)
        if self.reward_noise > 0:
            reward = reward + self.reward_noise * noise[0]
        return next_state, reward, self.terminal(next_state)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
