"""MountainCar, equal to Gymnasium's `MountainCar-v0` up to float32 rounding."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.envs.names import built_in
from freqdyna.envs.picture import Landmark, Painter, gymnasium_painter

MAX_SPEED = 0.07
GOAL_POSITION = 0.5
START_LOW, START_HIGH = -0.6, -0.4
FORCE = 0.001
GRAVITY = 0.0025


@built_in
class MountainCar(Environment):
    """Swing an underpowered car up a hill; the state is (position, velocity)."""

    name: ClassVar[str] = "MountainCar-v0"
    num_actions: ClassVar[int] = 3
    low: ClassVar[np.ndarray] = np.array([-1.2, -MAX_SPEED], np.float32)
    high: ClassVar[np.ndarray] = np.array([0.6, MAX_SPEED], np.float32)

    coordinates: ClassVar[tuple[str, ...]] = ("position", "velocity")
    action_names: ClassVar[tuple[str, ...]] = ("push left", "no push", "push right")

    goal_reward: float = eqx.field(default=-1.0, static=True)
    """Reward of the step that reaches the goal; the reward of every other step is -1."""

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """The goal, and the initial states (at rest, so a thin strip)."""
        return (
            Landmark("goal", (GOAL_POSITION, 0.0), (0.6, MAX_SPEED)),
            Landmark("start", (START_LOW, -0.001), (START_HIGH, 0.001)),
        )

    def painter(self) -> Painter:
        """Draws states as Gymnasium does."""
        return gymnasium_painter(self.name)

    def reset(self, key: PRNGKeyArray) -> State:
        """At rest near the bottom of the valley."""
        position = jax.random.uniform(key, minval=START_LOW, maxval=START_HIGH)
        return jnp.stack([position, jnp.zeros_like(position)])

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        """Push left (0), not at all (1) or right (2); the left wall stops the car."""
        position, velocity = state[0], state[1]
        velocity = velocity + (action - 1) * FORCE - jnp.cos(3 * position) * GRAVITY
        velocity = jnp.clip(velocity, -MAX_SPEED, MAX_SPEED)
        position = jnp.clip(position + velocity, self.low[0], self.high[0])
        velocity = jnp.where((position == self.low[0]) & (velocity < 0), 0.0, velocity)
        return jnp.stack([position, velocity])

    def terminal(self, state: State) -> Terminal:
        """At the goal, and not moving backwards."""
        return (state[0] >= GOAL_POSITION) & (state[1] >= 0)

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """-1 per step, `goal_reward` (by default also -1) for the step that reaches the goal."""
        return jnp.where(self.terminal(next_state), self.goal_reward, -1.0)
