"""States, actions, the space that an agent knows about its environment, and transitions."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from freqdyna.core import unrolled
from freqdyna.envs.picture import Landmark

State = Float[Array, " n"]
Action = Int[Array, ""] | Float[Array, " a"]
"""The index of a discrete action, or a vector of continuous actions."""
Outcome = tuple[State, Float[Array, ""], Bool[Array, ""] | Float[Array, ""]]
"""Next state, reward, and whether the next state is terminal, or how probable that is."""

Factory = Callable[[], Any]
"""Creates a new Gymnasium environment at each call; every seed needs two of them."""

NO_ACTIONS: np.ndarray = np.zeros(0, np.float32)


class Space(eqx.Module):
    """The state space, a box, and the action space, which is discrete or a box."""

    coordinates: ClassVar[tuple[str, ...]] = ("state 1", "state 2")
    """The names of the first two coordinates in plots."""
    action_names: ClassVar[tuple[str, ...]] = ()
    """The names of the discrete actions in plots; if empty, plots use their indices."""
    on_host: ClassVar[bool] = False
    """Whether the environment is stepped in Python rather than compiled."""
    knows_terminal: ClassVar[bool] = False
    """Whether `terminal` knows which states are terminal."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the environment."""

    @property
    @abc.abstractmethod
    def low(self) -> np.ndarray:
        """The lower bound of each of the n coordinates, shape (n,); −∞ if it is not known."""

    @property
    @abc.abstractmethod
    def high(self) -> np.ndarray:
        """The upper bound of each of the n coordinates, shape (n,); ∞ if it is not known."""

    @property
    @abc.abstractmethod
    def num_actions(self) -> int:
        """The number of discrete actions; 0 if actions are continuous."""

    @property
    def action_low(self) -> np.ndarray:
        """The lower bound of each continuous action, shape (a,); empty if actions are discrete."""
        return NO_ACTIONS

    @property
    def action_high(self) -> np.ndarray:
        """The upper bound of each continuous action, shape (a,); empty if actions are discrete."""
        return NO_ACTIONS

    def to_env_action(self, action: np.ndarray | np.generic) -> Any:
        """Convert an action of the agent to one that the environment accepts."""
        if self.num_actions:
            return int(action)
        return np.clip(action, self.action_low, self.action_high)

    def scaled_action(self, action: Float[Array, "*batch a"]) -> Float[Array, "*batch a"]:
        """Continuous actions, scaled from their bounds to ±1."""
        return 2 * (action - self.action_low) / (self.action_high - self.action_low) - 1

    def unscaled_action(self, scaled: Float[Array, "*batch a"]) -> Float[Array, "*batch a"]:
        """The inverse of `scaled_action`."""
        return self.action_low + (scaled + 1) / 2 * (self.action_high - self.action_low)

    @property
    def observation_size(self) -> int:
        """The number n of state coordinates."""
        return len(self.low)

    @property
    def action_size(self) -> int:
        """The number of entries of an action; 1 if actions are discrete."""
        return max(1, len(self.action_low))

    @property
    def is_bounded(self) -> bool:
        """Whether every coordinate has known bounds."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """Regions on maps of the first two coordinates, lowest layer first."""
        return ()

    def terminal(self, state: State) -> Bool[Array, ""]:
        """Whether `state` is terminal; False if that is not known."""
        return jnp.zeros((), bool)

    def contains(self, state: State) -> Bool[Array, ""]:
        """Whether `state` belongs to the state space."""
        return unrolled.every((state >= self.low) & (state <= self.high))

    def project(self, state: State) -> State:
        """The nearest state in the state space, shape (n,)."""
        return jnp.clip(state, self.low, self.high)

    def on_manifold(self, state: State) -> State:
        """The nearest point of the manifold that states lie on, if it is thinner than its box.

        This is called after each step of a climb.
        """
        return state


class Transition(eqx.Module):
    """(s, a, r, s', whether s' is terminal); truncation does not make s' terminal.

    Its packed form is one row of numbers, so that sampling from a buffer is one gather.
    """

    state: Float[Array, " n"]
    action: Action
    reward: Float[Array, ""]
    next_state: Float[Array, " n"]
    terminal: Bool[Array, ""] | Float[Array, ""]
    """Of a simulated transition, it may be the probability that s' is terminal."""

    def pack(self) -> Float[Array, " width"]:
        """The row (s, s', a, r, terminal)."""
        outcome = jnp.stack([self.reward, self.terminal.astype(float)])
        action = jnp.atleast_1d(self.action.astype(float))
        return jnp.concatenate([self.state, self.next_state, action, outcome])

    @staticmethod
    def unpack(row: Float[Array, " width"], continuous: int = 0) -> "Transition":
        """The transition of a row of `pack`, with so many continuous actions; 0 if discrete."""
        size = max(1, continuous)
        n = (row.shape[0] - size - 2) // 2
        action = row[2 * n : 2 * n + size] if continuous else row[2 * n].astype(int)
        reward, terminal = row[-2], row[-1]
        return Transition(row[:n], action, reward, row[n : 2 * n], terminal > 0)


def row_width(observation_size: int, action_size: int = 1) -> int:
    """The length of a packed transition."""
    return 2 * observation_size + action_size + 2
