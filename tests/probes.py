"""Tiny environments whose exact action values are known."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from freqdyna import Config
from freqdyna.agents import algorithms
from freqdyna.envs import Environment


def agent_of(env, algorithm="er", components=None, **settings):
    """An agent with a small network, which learns from its first step on."""
    small = {"warmup_steps": 0, "planning_steps": 2, "learner.hidden": (4,)}
    config = Config.of({"algorithm": algorithm, "env": env.name, **small, **settings})
    return algorithms.build(config, env, components=components)


class Probe(Environment):
    """Observations in [-1, 1], two actions; each probe is one idea."""

    num_actions: ClassVar[int] = 2
    low: ClassVar[np.ndarray] = np.full(1, -1.0, np.float32)
    high: ClassVar[np.ndarray] = np.full(1, 1.0, np.float32)
    reward_noise: float = eqx.field(default=0.0, static=True)
    episode_limit: int = eqx.field(default=10, static=True)

    def reset(self, key):
        return jnp.zeros(1)

    def move(self, state, action, noise):
        return state

    def terminal(self, state):
        return jnp.ones((), bool)

    def reward(self, state, action, next_state):
        return jnp.ones(())


class ConstantReward(Probe):
    """One step, reward 1: every value is 1."""

    name: ClassVar[str] = "ConstantReward"


class ObservedReward(Probe):
    """One step, the reward is the observation, -1 or 1."""

    name: ClassVar[str] = "ObservedReward"

    def reset(self, key):
        return jnp.where(jax.random.bernoulli(key), 1.0, -1.0)[None]

    def reward(self, state, action, next_state):
        return state[0]


class ActionReward(Probe):
    """One step, action 1 gives 1 and action 0 gives -1."""

    name: ClassVar[str] = "ActionReward"

    def reward(self, state, action, next_state):
        return 2.0 * action - 1.0


class DelayedReward(Probe):
    """From 0 to 1 without reward, then 1 and the end: Q(0) = discount, Q(1) = 1."""

    name: ClassVar[str] = "DelayedReward"

    def move(self, state, action, noise):
        return jnp.where(state < 0.5, 1.0, -1.0)

    def terminal(self, state):
        return state[0] < -0.5

    def reward(self, state, action, next_state):
        return jnp.where(state[0] > 0.5, 1.0, 0.0)


class Endless(Probe):
    """Never terminal, reward 1, cut after few steps: the value is 1 / (1 - discount)."""

    name: ClassVar[str] = "Endless"
    episode_limit: int = eqx.field(default=3, static=True)

    def terminal(self, state):
        return jnp.zeros((), bool)


class Aim(Probe):
    """One step, a continuous action: its squared distance to the observation, -1 or 1, is lost."""

    name: ClassVar[str] = "Aim"
    num_actions: ClassVar[int] = 0
    action_low: ClassVar[np.ndarray] = np.full(1, -2.0, np.float32)
    action_high: ClassVar[np.ndarray] = np.full(1, 2.0, np.float32)

    def reset(self, key):
        return jnp.where(jax.random.bernoulli(key), 1.0, -1.0)[None]

    def reward(self, state, action, next_state):
        return -((action[0] - state[0]) ** 2)


class Clock(Probe):
    """The state counts the steps of the episode, which ends at `last`, if it ends."""

    name: ClassVar[str] = "Clock"
    high: ClassVar[np.ndarray] = np.full(1, 1000.0, np.float32)
    last: float = 1000.0

    def move(self, state, action, noise):
        return state + 1

    def terminal(self, state):
        return state[0] >= self.last
