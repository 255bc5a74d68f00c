"""Pendulum, equal to Gymnasium's `Pendulum-v1` up to float32 rounding."""

import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Count
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal, on_circles
from freqdyna.envs.names import built_in
from freqdyna.envs.picture import Painter, gymnasium_painter

MOST_SPEED = 8.0
MOST_TORQUE = 2.0
START_ANGLE, START_SPEED = math.pi, 1.0
SECONDS = 0.05


@built_in
class Pendulum(Environment):
    """Swing a rod up and keep it upright with a torque that is too weak to lift it directly.

    The state is (cos θ, sin θ, velocity of θ), where θ is the angle from upright. The action is the
    torque, shape (1,). The rod has mass and length 1. No state is terminal.
    """

    name: ClassVar[str] = "Pendulum-v1"
    num_actions: ClassVar[int] = 0
    action_high: ClassVar[np.ndarray] = np.array([MOST_TORQUE], np.float32)
    action_low: ClassVar[np.ndarray] = -action_high
    high: ClassVar[np.ndarray] = np.array([1, 1, MOST_SPEED], np.float32)
    low: ClassVar[np.ndarray] = -high

    coordinates: ClassVar[tuple[str, ...]] = ("cos θ", "sin θ")

    episode_limit: Count = eqx.field(default=200, static=True)  # Gymnasium's
    g: float = eqx.field(default=10.0, static=True)
    """The acceleration of gravity, an argument of Gymnasium's environment as well."""

    def painter(self) -> Painter:
        """Draws states as Gymnasium does, without the arrow that shows the last torque."""
        return gymnasium_painter(self.name, _motion)

    def reset(self, key: PRNGKeyArray) -> State:
        """Any angle, at a moderate speed."""
        most = jnp.asarray([START_ANGLE, START_SPEED])
        angle, speed = jax.random.uniform(key, (2,), minval=-most, maxval=most)
        return _observed(angle, speed)

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        """Apply the torque for 0.05 seconds; the new speed then changes the angle."""
        angle = _angle(state)
        acceleration = 1.5 * self.g * jnp.sin(angle) + 3 * _torque(action)
        speed = jnp.clip(state[2] + SECONDS * acceleration, -MOST_SPEED, MOST_SPEED)
        return _observed(angle + SECONDS * speed, speed)

    def terminal(self, state: State) -> Terminal:
        """Never."""
        return jnp.zeros((), bool)

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """-(θ² + 0.1 θ̇² + 0.001 torque²), with the angle and the speed before the step."""
        return -(_angle(state) ** 2 + 0.1 * state[2] ** 2 + 0.001 * _torque(action) ** 2)

    def on_manifold(self, state: State) -> State:
        """The (cosine, sine) pair divided by its length; (1, 0) where that is about 0."""
        return jnp.concatenate([on_circles(state[None, :2])[0], state[2:]])

    def project(self, state: State) -> State:
        """Clip to the box, then project onto the circle of cosine and sine."""
        return self.on_manifold(super().project(state))


def _angle(state: State) -> Float[Array, ""]:
    """The angle from upright, from -π to π."""
    return jnp.arctan2(state[1], state[0])


def _torque(action: Action) -> Float[Array, ""]:
    """The torque that an action applies."""
    return jnp.clip(action[0], -MOST_TORQUE, MOST_TORQUE)


def _observed(angle: Float[Array, ""], speed: Float[Array, ""]) -> State:
    """The state with this angle and speed."""
    return jnp.stack([jnp.cos(angle), jnp.sin(angle), speed])


def _motion(state: np.ndarray) -> np.ndarray:
    """The angle and its velocity, shape (2,), as in Gymnasium's environment."""
    cos, sin, speed = state
    return np.array([np.arctan2(sin, cos), speed])
