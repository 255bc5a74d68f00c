"""TubeGridWorld-n: GridWorld in a box of n coordinates, of which an agent visits a thin tube.

The task is that of GridWorld, in the first two coordinates. The others fluctuate around centres
that depend on the first two, whatever the agent does. docs/environments.md explains why the optimal
return does not depend on n, and what does.
"""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.core import unrolled
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.base import Action, State, Terminal
from freqdyna.envs.grid_world import GridWorld

SIZES = (2, 3, 4, 6, 8)
"""The n of the built-in environments."""
DEVIATION = 0.05
"""The standard deviation of a further coordinate from its centre."""
MOST_DEVIATION = 4 * DEVIATION
"""Deviations are clipped to this."""
OFF_COURSE = 0.25
"""A state is off course if a deviation is greater; no episode leads there."""
KEPT = 0.9
"""The share of a deviation that is left after one step, on average."""

Others = Float[Array, " n_minus_2"]
"""One number for each further coordinate."""


class TubeGridWorld(GridWorld):
    """GridWorld with further coordinates; `with_coordinates` makes the class for an n.

    n is the number of bounds, `observation_size`.
    """

    @staticmethod
    def with_coordinates(n: int) -> "type[TubeGridWorld]":
        """The class of environments named TubeGridWorld-n, with n coordinates, 2 or more."""
        if not isinstance(n, int) or n < 2:
            raise FreqdynaError(f"n is {n!r}; it must be an integer, 2 or greater")

        class Sized(TubeGridWorld):
            name: ClassVar[str] = f"TubeGridWorld-{n}"
            summary: ClassVar[str] = f"GridWorld in a tube of a box; {n} coordinates, 4 actions"
            low: ClassVar[np.ndarray] = np.zeros(n, np.float32)
            high: ClassVar[np.ndarray] = np.ones(n, np.float32)
            noise_size: ClassVar[int] = n - 1  # of the move, and of each further coordinate

        Sized.__doc__ = TubeGridWorld.__doc__
        Sized.__name__ = Sized.__qualname__ = f"TubeGridWorld{n}"
        return Sized

    def centers(self, place: Float[Array, " 2"]) -> Others:
        """The centres of the further coordinates: waves in different directions, in [0.25, 0.75].

        Args:
            place: (x, y).

        """
        angles = np.arange(1, self.observation_size - 1, dtype=np.float32)
        phase = place[0] * np.cos(angles) + place[1] * np.sin(angles)
        return 0.5 + 0.25 * jnp.sin(2 * np.pi * phase)

    def deviations(self, state: State) -> Others:
        """The differences of the further coordinates from their centres."""
        return state[2:] - self.centers(state[:2])

    def is_on_course(self, state: State) -> Bool[Array, ""]:
        """Whether the state is in the tube, where moves have an effect."""
        if self.observation_size == 2:
            return jnp.ones((), bool)
        return unrolled.every(jnp.abs(self.deviations(state)) <= OFF_COURSE)

    def reset(self, key: PRNGKeyArray) -> State:
        """A random state in the bottom left corner and in the tube."""
        place = super().reset(key)
        noise = jax.random.normal(jax.random.fold_in(key, 1), (self.observation_size - 2,))
        deviations = jnp.clip(DEVIATION * noise, -MOST_DEVIATION, MOST_DEVIATION)
        return jnp.concatenate([place, self.centers(place) + deviations])

    def move(self, state: State, action: Action, noise: Float[Array, " k"]) -> State:
        """Move as in GridWorld, unless off course; the other coordinates follow their centres.

        Deviations from the centres decay and receive noise that keeps their standard deviation.
        """
        before = self.deviations(state)
        moved = super().move(state[:2], action, noise[:1])
        place = jnp.where(self.is_on_course(state), moved, state[:2])
        after = KEPT * before + DEVIATION * np.sqrt(1 - KEPT**2) * noise[1:]
        # Off course, noise can only shorten the way back.
        most = jnp.maximum(MOST_DEVIATION, KEPT * jnp.abs(before))
        others = self.centers(place) + jnp.clip(after, -most, most)
        return jnp.clip(jnp.concatenate([place, others]), self.low, self.high)

    def terminal(self, state: State) -> Terminal:
        """In the top right corner, whatever the other coordinates are."""
        return super().terminal(state[:2])

    def contains(self, state: State) -> Bool[Array, ""]:
        """Inside the box and, unless walls are in the state space, not inside a wall."""
        inside = unrolled.every((state >= self.low) & (state <= self.high))
        return inside & super().contains(state[:2])

    def project(self, state: State) -> State:
        """Clip to the box, and move (x, y) out of walls as GridWorld does."""
        others = jnp.clip(state[2:], self.low[2:], self.high[2:])
        return jnp.concatenate([super().project(state[:2]), others])


TUBE_GRID_WORLDS = tuple(map(TubeGridWorld.with_coordinates, SIZES))
