"""Compiled domains with more coordinates, for a second and third choice of the defaults of `er`."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Count
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal


class Landing(Environment):
    """Land a craft upright, slowly and near the middle: rewards of up to 100, six coordinates.

    The state is (x, y, speeds of both, angle, its speed). The engine at the bottom pushes along the
    craft; two at the sides turn it.
    """

    name: ClassVar[str] = "Landing"
    num_actions: ClassVar[int] = 4
    noise_size: ClassVar[int] = 2
    low: ClassVar[np.ndarray] = np.array([-2, -1, -4, -4, -4, -4], np.float32)
    high: ClassVar[np.ndarray] = np.array([2, 3, 4, 4, 4, 4], np.float32)
    episode_limit: Count = eqx.field(default=400, static=True)

    def reset(self, key: PRNGKeyArray) -> State:
        """High above the ground, with some speed and turn."""
        x, vx, vy, angle, turn = jax.random.uniform(key, (5,), minval=-1.0)
        return jnp.stack([0.5 * x, 1.5, 0.5 * vx, 0.3 * vy, 0.2 * angle, 0.2 * turn])

    def move(self, state: State, action: Action, noise: Float[Array, " 2"]) -> State:
        """A twentieth of a second."""
        x, y, vx, vy, angle, turn = state
        dt = 0.05
        push = jnp.where(action == 2, 1.6 + 0.1 * noise[0], 0.0)
        turning = jnp.where(action == 1, 1.0, jnp.where(action == 3, -1.0, 0.0)) + 0.1 * noise[1]
        vx, vy = vx - dt * push * jnp.sin(angle), vy + dt * (push * jnp.cos(angle) - 0.8)
        turn = turn + dt * turning
        after = jnp.stack([x + dt * vx, y + dt * vy, vx, vy, angle + dt * turn, turn])
        return jnp.clip(after, self.low, self.high)

    def terminal(self, state: State) -> Terminal:
        """On the ground, or lost."""
        return (state[1] <= 0) | (jnp.abs(state[0]) >= 1.5) | (state[1] >= 2.5)

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """What the shape gains, less fuel; 100 for a good landing and -100 for any other end."""
        x, y, vx, vy, angle, _ = next_state
        good = (y <= 0) & (jnp.abs(x) < 0.3) & (jnp.hypot(vx, vy) < 0.4) & (jnp.abs(angle) < 0.3)
        end = jnp.where(good, 100.0, -100.0)
        fuel = jnp.where(action == 2, 0.3, jnp.where(action == 0, 0.0, 0.03))
        gain = self._shape(next_state) - self._shape(state)
        return gain - fuel + jnp.where(self.terminal(next_state), end, 0.0)

    def _shape(self, state: State) -> Float[Array, ""]:
        x, y, vx, vy, angle, _ = state
        return -60.0 * jnp.hypot(x, y) - 60.0 * jnp.hypot(vx, vy) - 60.0 * jnp.abs(angle)


class Tanks(Environment):
    """Keep the levels and temperatures of three tanks: small rewards, a generous space.

    Liquid flows from each tank to the next. Actions open the inflow of one tank, heat one, or none.
    """

    name: ClassVar[str] = "Tanks"
    num_actions: ClassVar[int] = 7
    noise_size: ClassVar[int] = 6
    low: ClassVar[np.ndarray] = np.full(6, -50, np.float32)
    high: ClassVar[np.ndarray] = np.full(6, 50, np.float32)
    episode_limit: Count = eqx.field(default=200, static=True)

    def reset(self, key: PRNGKeyArray) -> State:
        """Levels and temperatures anywhere from 0 to 2; the aims are 1."""
        return jax.random.uniform(key, (6,), maxval=2.0)

    def move(self, state: State, action: Action, noise: Float[Array, " 6"]) -> State:
        """One minute."""
        level, heat = state[:3], state[3:]
        inflow = jnp.where(action == 1 + jnp.arange(3), 0.35, 0.0)
        heating = jnp.where(action == 4 + jnp.arange(3), 0.3, 0.0)
        flow = 0.1 * level
        before = jnp.concatenate([jnp.zeros(1), flow[:2]])
        new_level = level + inflow + before - flow
        new_heat = heat + heating - 0.05 * heat - 0.3 * inflow * heat
        after = jnp.concatenate([new_level, new_heat]) + 0.01 * noise
        return jnp.clip(after, 0.0, 10.0)

    def terminal(self, state: State) -> Terminal:
        """A tank that overflows."""
        return jnp.max(state[:3]) > 4.0

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """A hundredth for what is near its aim, and a loss for an overflow."""
        near = jnp.exp(-4.0 * (next_state - 1.0) ** 2).mean()
        return 0.01 * near - jnp.where(self.terminal(next_state), 1.0, 0.0)


UNITS = np.array([100, 100, 100, 0.1, 0.1, 0.1], np.float32)


class UnitTanks(Tanks):
    """Tanks with levels in centimetres, temperatures in tens of degrees, and a careless box."""

    name: ClassVar[str] = "UnitTanks"
    low: ClassVar[np.ndarray] = np.full(6, -1000, np.float32)
    high: ClassVar[np.ndarray] = np.full(6, 1000, np.float32)

    def reset(self, key: PRNGKeyArray) -> State:
        """As in Tanks."""
        return Tanks.reset(self, key) * UNITS

    def move(self, state: State, action: Action, noise: Float[Array, " 6"]) -> State:
        """As in Tanks."""
        return Tanks.move(self, state / UNITS, action, noise) * UNITS

    def terminal(self, state: State) -> Terminal:
        """As in Tanks."""
        return Tanks.terminal(self, state / UNITS)

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """As in Tanks."""
        near = jnp.exp(-4.0 * (next_state / UNITS - 1.0) ** 2).mean()
        return 0.01 * near - jnp.where(self.terminal(next_state), 1.0, 0.0)
