"""What an agent knows of the place it lives in, whoever steps it: states, actions and bounds."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from freqdyna.core import unrolled
from freqdyna.envs.picture import Landmark

State = Float[Array, " n"]
Action = Int[Array, ""] | Float[Array, " a"]
"""One of a number of actions, or a vector of continuous ones."""

Factory = Callable[[], Any]
"""Makes a new Gymnasium environment at each call: every seed has two of its own."""

NO_ACTIONS: np.ndarray = np.zeros(0, np.float32)

# Five planning updates are the paper's (figure 7); the rest is ours.
_WITH_CONTINUOUS_ACTIONS: dict[str, Any] = {
    "planning_steps": 5,
    "hidden": (64, 64),
    "eval_exploration": 0.0,
}


class Space(eqx.Module):
    """States are vectors in a box; actions are numbered, or vectors in a box of their own."""

    coordinates: ClassVar[tuple[str, ...]] = ("state 1", "state 2")
    """What the first two coordinates are called in pictures."""
    action_names: ClassVar[tuple[str, ...]] = ()
    """What the numbered actions are called in pictures; empty: by their numbers."""
    on_host: ClassVar[bool] = False
    """Whether the environment is stepped in Python rather than compiled."""
    knows_terminal: ClassVar[bool] = False
    """Whether `terminal` can tell where episodes end."""
    own_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings of `Config` that runs have here unless the user sets them: those that may be unset,
    such as `planning_steps`."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What the environment is called."""

    @property
    @abc.abstractmethod
    def low(self) -> np.ndarray:
        """The least value of each of the n coordinates, shape (n,); −∞ where it is not known."""

    @property
    @abc.abstractmethod
    def high(self) -> np.ndarray:
        """The greatest value of each of the n coordinates, shape (n,); ∞ where it is not known."""

    @property
    @abc.abstractmethod
    def num_actions(self) -> int:
        """How many actions there are; 0 where they are continuous."""

    @property
    def action_low(self) -> np.ndarray:
        """The least value of each continuous action, shape (a,); empty for numbered actions."""
        return NO_ACTIONS

    @property
    def action_high(self) -> np.ndarray:
        """The greatest value of each continuous action, shape (a,)."""
        return NO_ACTIONS

    def to_agent(self, observation: Any) -> np.ndarray:
        """An observation of the environment's as the agent has it, shape (n,)."""
        return np.asarray(observation, np.float32)

    def to_env_action(self, action: np.ndarray | np.generic) -> Any:
        """An action of the agent's as the environment takes it."""
        return int(action)

    def facts(self) -> dict[str, Any]:
        """What a run must keep of it to go on, as JSON can hold it."""
        return {}

    @property
    def observation_size(self) -> int:
        """The number n of state coordinates."""
        return len(self.low)

    @property
    def action_size(self) -> int:
        """How many numbers an action is: 1 for a numbered one."""
        return max(1, len(self.action_low))

    @property
    def is_bounded(self) -> bool:
        """Whether every coordinate has known bounds."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def default_settings(self) -> dict[str, Any]:
        """What a run sets differently here, where the user sets nothing."""
        by_actions = {} if self.num_actions else _WITH_CONTINUOUS_ACTIONS
        return {**by_actions, **self.own_settings}

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """What pictures of a two-dimensional state space show, lowest layer first."""
        return ()

    def terminal(self, state: State) -> Bool[Array, ""]:
        """Whether the episode ends in `state`; no, where that is not known."""
        return jnp.zeros((), bool)

    def contains(self, state: State) -> Bool[Array, ""]:
        """Whether `state` belongs to the state space."""
        return unrolled.every((state >= self.low) & (state <= self.high))

    def project(self, state: State) -> State:
        """The valid state nearest to `state`."""
        return jax.numpy.clip(state, self.low, self.high)

    def on_manifold(self, state: State) -> State:
        """The nearest state of the set that states lie on, where that is thinner than its box.

        Called after each step of a climb.
        """
        return state
