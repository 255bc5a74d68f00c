"""Acrobot, equal to Gymnasium's `Acrobot-v1` up to float32 rounding."""

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

MOST_SPEEDS = (4 * math.pi, 9 * math.pi)
START_SIZE = 0.1
SECONDS = 0.2
GRAVITY = 9.8
# Both links have mass, length and moment of inertia 1; a link's mass is centred halfway along it.
CENTER = 0.5

Motion = Float[Array, " 4"]
"""Two angles and their velocities."""


@built_in
class Acrobot(Environment):
    """Swing the free end of two hanging links above a bar, using the joint between them.

    The state is (cos θ₁, sin θ₁, cos θ₂, sin θ₂, velocity of θ₁, velocity of θ₂): θ₁ is the angle
    of the first link from hanging, θ₂ that of the second link from the direction of the first.
    """

    name: ClassVar[str] = "Acrobot-v1"
    num_actions: ClassVar[int] = 3
    high: ClassVar[np.ndarray] = np.array([1, 1, 1, 1, *MOST_SPEEDS], np.float32)
    low: ClassVar[np.ndarray] = -high

    coordinates: ClassVar[tuple[str, ...]] = ("cos θ₁", "sin θ₁")

    episode_limit: Count = eqx.field(default=500, static=True)  # Gymnasium's
    goal_reward: float = eqx.field(default=0.0, static=True)
    """Reward of the step that reaches the goal; the reward of every other step is -1."""

    def painter(self) -> Painter:
        """Draws states as Gymnasium does."""
        return gymnasium_painter(self.name, _motion)

    def reset(self, key: PRNGKeyArray) -> State:
        """Nearly hanging, nearly at rest."""
        return _observed(jax.random.uniform(key, (4,), minval=-START_SIZE, maxval=START_SIZE))

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        """Apply a torque of -1, 0 or 1 to the joint; one Runge-Kutta step of 0.2 seconds."""
        cos_1, sin_1, cos_2, sin_2, speed_1, speed_2 = state
        angles = jnp.arctan2(sin_1, cos_1), jnp.arctan2(sin_2, cos_2)
        motion = jnp.stack([*angles, speed_1, speed_2])
        torque = action - 1.0
        k1 = _change(motion, torque)
        k2 = _change(motion + SECONDS / 2 * k1, torque)
        k3 = _change(motion + SECONDS / 2 * k2, torque)
        k4 = _change(motion + SECONDS * k3, torque)
        state = _observed(motion + SECONDS / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        return jnp.clip(state, self.low, self.high)

    def terminal(self, state: State) -> Terminal:
        """The free end is more than one link's length above the fixed one."""
        cos_1, sin_1, cos_2, sin_2 = state[:4]
        return -cos_1 - (cos_1 * cos_2 - sin_1 * sin_2) > 1

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """-1 per step, `goal_reward` for the step that reaches the goal."""
        return jnp.where(self.terminal(next_state), self.goal_reward, -1.0)

    def on_manifold(self, state: State) -> State:
        """Each (cosine, sine) pair divided by its length; (1, 0) where that is about 0."""
        return jnp.concatenate([on_circles(state[:4].reshape(2, 2)).ravel(), state[4:]])

    def project(self, state: State) -> State:
        """Clip to the box, then project onto the circles of cosines and sines."""
        return self.on_manifold(super().project(state))


def _observed(motion: Motion) -> State:
    """The state with these angles and velocities."""
    angle_1, angle_2, speed_1, speed_2 = motion
    pairs = jnp.cos(angle_1), jnp.sin(angle_1), jnp.cos(angle_2), jnp.sin(angle_2)
    return jnp.stack([*pairs, speed_1, speed_2])


def _motion(state: np.ndarray) -> np.ndarray:
    """Two angles and their velocities, shape (4,), as in Gymnasium's environment."""
    cos_1, sin_1, cos_2, sin_2, speed_1, speed_2 = state
    return np.array([np.arctan2(sin_1, cos_1), np.arctan2(sin_2, cos_2), speed_1, speed_2])


def _change(motion: Motion, torque: Float[Array, ""]) -> Motion:
    """The time derivative of `motion`: M(θ₂) θ̈ = forces, solved for the accelerations θ̈.

    These are the equations of Sutton & Barto's book; the terms in `sway` are the centrifugal and
    Coriolis forces.
    """
    angle_1, angle_2, speed_1, speed_2 = motion
    sway = CENTER * jnp.sin(angle_2)
    weight_2 = CENTER * GRAVITY * jnp.sin(angle_1 + angle_2)
    weight_1 = (CENTER + 1) * GRAVITY * jnp.sin(angle_1) + weight_2
    force_1 = sway * speed_2 * (speed_2 + 2 * speed_1) - weight_1
    force_2 = torque - sway * speed_1**2 - weight_2
    both = CENTER * jnp.cos(angle_2)
    inertia_22 = CENTER**2 + 1
    inertia_12 = inertia_22 + both
    inertia_11 = 2 * inertia_22 + 1 + 2 * both
    determinant = inertia_11 * inertia_22 - inertia_12**2
    return jnp.stack(
        [
            speed_1,
            speed_2,
            (inertia_22 * force_1 - inertia_12 * force_2) / determinant,
            (inertia_11 * force_2 - inertia_12 * force_1) / determinant,
        ]
    )
