"""CartPole, equal to Gymnasium's `CartPole-v1` up to float32 rounding."""

import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Count
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.envs.names import built_in
from freqdyna.envs.picture import Painter, gymnasium_painter

MOST_POSITION = 2.4
MOST_ANGLE = math.radians(12)
START_SIZE = 0.05
SECONDS = 0.02
PUSH = 10.0
GRAVITY = 9.8
HALF_POLE = 0.5
POLE_MASS = 0.1
MASS = 1.0 + POLE_MASS


@built_in
class CartPole(Environment):
    """Keep a pole on a cart upright; the state is (position, velocity, angle, its velocity).

    The bounds are Gymnasium's: twice the limits at which an episode ends, and none for the two
    velocities.
    """

    name: ClassVar[str] = "CartPole-v1"
    num_actions: ClassVar[int] = 2
    high: ClassVar[np.ndarray] = np.array(
        [2 * MOST_POSITION, np.inf, 2 * MOST_ANGLE, np.inf], np.float32
    )
    low: ClassVar[np.ndarray] = -high

    coordinates: ClassVar[tuple[str, ...]] = ("position", "velocity")

    episode_limit: Count = eqx.field(default=500, static=True)  # Gymnasium's

    def painter(self) -> Painter:
        """Draws states as Gymnasium does."""
        return gymnasium_painter(self.name)

    def reset(self, key: PRNGKeyArray) -> State:
        """Nearly upright, nearly at rest, near the middle of the track."""
        return jax.random.uniform(key, (4,), minval=-START_SIZE, maxval=START_SIZE)

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        """Push left (0) or right (1); one explicit Euler step of the equations of motion."""
        _, velocity, angle, spin = state
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        pole = POLE_MASS * HALF_POLE / MASS
        # The cart's acceleration if the pole did not rotate; the rotation then reduces it.
        pushed = (2 * action - 1) * PUSH / MASS + pole * spin**2 * sin
        inertia = HALF_POLE * (4 / 3 - POLE_MASS / MASS * cos**2)
        turned = (GRAVITY * sin - cos * pushed) / inertia
        change = jnp.stack([velocity, pushed - pole * turned * cos, spin, turned])
        return state + SECONDS * change

    def terminal(self, state: State) -> Terminal:
        """Off the track, or tilted by more than 12 degrees."""
        return (jnp.abs(state[0]) > MOST_POSITION) | (jnp.abs(state[2]) > MOST_ANGLE)

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """1 per step, including the last one."""
        return jnp.ones(())
