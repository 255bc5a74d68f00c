"""The interface of an environment: pure functions over arrays, which are also its true model.

An environment object holds no state. Because `transition` can be called from any state, the same
object serves as the environment in which the agent acts and as the true model for planning.
"""

import abc
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freqdyna.config import Component, Count, NotNegative
from freqdyna.core import unrolled
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.picture import Painter
from freqdyna.envs.space import NO_ACTIONS, Space
from freqdyna.envs.space import Action as Action
from freqdyna.envs.space import State as State

Reward = Float[Array, ""]
Terminal = Bool[Array, ""]
Policy = Callable[[State, PRNGKeyArray], Action]

SHORTEST = 1e-6
"""A (cosine, sine) pair shorter than this has no direction."""


class Environment(Component, Space):
    """A Markov decision process as pure functions.

    A subclass defines the class variables and the abstract methods below. All methods are written
    for one state; use `vmap` for many. Its fields with a default are its settings: `gravity: float
    = 9.8` is set by `train(Mine(gravity=1.6))`, or for a built-in one by `--env.gravity 1.6`.
    `freqdyna list` prints the first line of the docstring.
    """

    name: ClassVar[str]
    num_actions: ClassVar[int]
    """The number of discrete actions; 0 if actions are continuous."""
    action_low: ClassVar[np.ndarray] = NO_ACTIONS
    action_high: ClassVar[np.ndarray] = NO_ACTIONS
    """The bounds of continuous actions, shape (a,) each; empty if actions are discrete."""
    low: ClassVar[np.ndarray]
    high: ClassVar[np.ndarray]
    knows_terminal: ClassVar[bool] = True
    noise_size: ClassVar[int] = 0
    """The number of standard normal random numbers that one move uses."""

    reward_noise: NotNegative = 0.0
    """Standard deviation of the Gaussian noise added to every reward (sigma)."""
    episode_limit: Count = eqx.field(default=2000, static=True)
    """The number of steps after which an episode is truncated, which is not a termination."""

    def __check_init__(self) -> None:
        low, high = np.asarray(self.action_low), np.asarray(self.action_high)
        bounds = low.ndim == 1 and low.shape == high.shape and low.size > 0
        bounded = bounds and bool(np.isfinite([low, high]).all() and (low < high).all())
        if not (bounded if self.num_actions == 0 else low.size == high.size == 0):
            raise FreqdynaError(
                f"num_actions of {self.name!r} is {self.num_actions}, its action_low {low} and "
                f"action_high {high}; with 0 they must be finite bounds of continuous actions, "
                "shape (a,), the upper greater than the lower ones, and otherwise empty"
            )

    def painter(self) -> Painter:
        """Draws states, for `freqdyna watch`; optional."""
        raise FreqdynaError(
            f"env is {self.name!r}, which cannot be drawn: its class has no method painter"
        )

    @abc.abstractmethod
    def reset(self, key: PRNGKeyArray) -> State:
        """Sample an initial state, shape (n,)."""

    @abc.abstractmethod
    def move(self, state: State, action: Action, noise: Float[Array, " k"]) -> State:
        """The next state.

        Args:
            state: The current state, shape (n,).
            action: The action, shape () if discrete and (a,) if continuous.
            noise: Standard normal random numbers, shape (noise_size,).

        Returns:
            The next state, shape (n,).

        """

    @abc.abstractmethod
    def terminal(self, state: State) -> Terminal:
        """Whether `state` is terminal, a Boolean scalar."""

    @abc.abstractmethod
    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """The reward of a transition, excluding `reward_noise`; a scalar."""

    def transition(
        self, state: State, action: Action, key: PRNGKeyArray
    ) -> tuple[State, Reward, Terminal]:
        """Take one step from any state.

        Args:
            state: The current state, shape (n,).
            action: The action, shape () if discrete and (a,) if continuous.
            key: A random key.

        Returns:
            The next state, the reward, and whether the next state is terminal.

        """
        return self.transition_from_noise(
            state, action, jax.random.normal(key, (1 + self.noise_size,))
        )

    def transition_from_noise(
        self, state: State, action: Action, noise: Float[Array, " k_plus_1"]
    ) -> tuple[State, Reward, Terminal]:
        """`transition` as a deterministic function of standard normal random numbers.

        The first of them is for the reward.
        """
        next_state = self.move(state, action, noise[1:])
        reward = self.reward(state, action, next_state)
        scale: float | Array = self.reward_noise
        # It is an array if trainings with different noise are rows of one program.
        if isinstance(scale, jax.Array) or scale > 0:
            reward = reward + scale * noise[0]
        return next_state, reward, self.terminal(next_state)


class Episode(eqx.Module):
    """An evaluation episode, in progress or finished."""

    state: Float[Array, " n"]
    total: Float[Array, ""]
    """Sum of rewards, undiscounted."""
    length: Int[Array, ""]
    terminal: Bool[Array, ""]


def start_episode(env: Environment, key: PRNGKeyArray) -> Episode:
    """The episode that `key` determines, before its first step."""
    reset_key, _ = jax.random.split(key)
    return Episode(env.reset(reset_key), jnp.zeros(()), jnp.zeros((), int), jnp.zeros((), bool))


def advance_episode(
    env: Environment, policy: Policy, key: PRNGKeyArray, episode: Episode
) -> Episode:
    """Take one step in the episode that was started with `key`."""
    _, step_key = jax.random.split(key)
    act_key, env_key = jax.random.split(jax.random.fold_in(step_key, episode.length))
    action = policy(episode.state, act_key)
    state, reward, terminal = env.transition(episode.state, action, env_key)
    return Episode(state, episode.total + reward, episode.length + 1, terminal)


def run_episode(env: Environment, policy: Policy, key: PRNGKeyArray) -> Episode:
    """One episode, truncated at the environment's limit."""

    def unfinished(episode: Episode) -> Bool[Array, ""]:
        return ~episode.terminal & (episode.length < env.episode_limit)

    def advance(episode: Episode) -> Episode:
        return advance_episode(env, policy, key, episode)

    return jax.lax.while_loop(unfinished, advance, start_episode(env, key))


def evaluate(
    env: Environment, policy: Policy, episodes: int, key: PRNGKeyArray
) -> dict[str, Float[Array, ""]]:
    """The means of "return", "length" and "terminated" over some episodes of a policy."""
    keys = jax.random.split(key, episodes)
    outcome = jax.vmap(lambda k: run_episode(env, policy, k))(keys)
    return {
        "return": outcome.total.mean(),
        "length": outcome.length.astype(float).mean(),
        "terminated": outcome.terminal.astype(float).mean(),
    }


def on_circles(pairs: Float[Array, "angles 2"]) -> Float[Array, "angles 2"]:
    """Each (cosine, sine) pair divided by its length; (1, 0) where that is about 0."""
    length = unrolled.norm(pairs)[:, None]
    # A quotient rounded up from 1 would lie outside the box.
    units = jnp.clip(pairs / jnp.maximum(length, SHORTEST), -1, 1)
    return jnp.where(length < SHORTEST, jnp.asarray([1.0, 0.0]), units)
