"""Sutton & Barto's Dyna maze (Reinforcement Learning, 2nd edition, example 8.1)."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.envs.picture import AGENT, COLORS, FLOOR, Landmark, Painter

ROWS, COLUMNS = 6, 9
START_CELL, GOAL_CELL = (2, 0), (0, 8)
OBSTACLES = ((1, 2), (2, 2), (3, 2), (4, 5), (0, 7), (1, 7), (2, 7))
FREE_CELLS = np.array(
    [cell for cell in np.ndindex(ROWS, COLUMNS) if cell not in OBSTACLES], np.float32
)
DIRECTIONS = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]], np.float32)  # up, down, left, right


class DynaMaze(Environment):
    """Six rows and nine columns of cells; the state is (row, column), counted from the top left."""

    name: ClassVar[str] = "DynaMaze"
    summary: ClassVar[str] = "Sutton & Barto's 6×9 grid with obstacles; 54 cells, 4 actions"
    num_actions: ClassVar[int] = 4
    low: ClassVar[np.ndarray] = np.zeros(2, np.float32)
    high: ClassVar[np.ndarray] = np.array([ROWS - 1, COLUMNS - 1], np.float32)

    coordinates: ClassVar[tuple[str, ...]] = ("row", "column")

    goal_reward: float = eqx.field(default=1.0, static=True)
    """Reward of the step that reaches the goal; the reward of every other step is 0."""

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """The start, the goal and the obstacles, each a unit cell around its state."""
        cells = [("start", START_CELL), ("goal", GOAL_CELL), *(("wall", o) for o in OBSTACLES)]
        return tuple(
            Landmark(kind, (row - 0.5, column - 0.5), (row + 0.5, column + 0.5))
            for kind, (row, column) in cells
        )

    def reset(self, key: PRNGKeyArray) -> State:
        """Always the same cell."""
        return jnp.asarray(START_CELL, jnp.float32)

    def move(self, state: State, action: Action, noise: Float[Array, " 0"]) -> State:
        """Move by one cell; the state does not change at an obstacle or the edge."""
        target = jnp.clip(state + jnp.asarray(DIRECTIONS)[action], self.low, self.high)
        return jnp.where(_is_obstacle(target), state, target)

    def contains(self, state: State) -> Bool[Array, ""]:
        """Within the bounds, and the nearest cell is not an obstacle."""
        return super().contains(state) & ~_is_obstacle(state)

    def project(self, state: State) -> State:
        """Clip to the bounds, and move states in an obstacle to the nearest free cell."""
        state = jnp.clip(state, self.low, self.high)
        distance = jnp.linalg.norm(jnp.asarray(FREE_CELLS) - state, axis=-1)
        nearest = jnp.asarray(FREE_CELLS)[jnp.argmin(distance)]
        return jnp.where(_is_obstacle(state), nearest, state)

    def terminal(self, state: State) -> Terminal:
        """In the goal cell."""
        return (jnp.round(state) == jnp.asarray(GOAL_CELL)).all()

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """`goal_reward` for the step that reaches the goal, otherwise 0."""
        return jnp.where(self.terminal(next_state), self.goal_reward, 0.0)

    def painter(self) -> Painter:
        """Draws `picture`."""
        return Painter(self.picture, steps_a_second=5)

    def picture(self, state: np.ndarray) -> np.ndarray:
        """An image with dark obstacles, green start, yellow goal and red agent.

        Returns:
            Shape (height, width, 3), type uint8.

        """
        cells = np.full((ROWS, COLUMNS, 3), FLOOR, np.uint8)
        for landmark in self.landmarks:
            row, column = landmark.low
            cells[round(row + 0.5), round(column + 0.5)] = COLORS[landmark.kind]
        picture = cells.repeat(40, axis=0).repeat(40, axis=1)
        down, right = (round(float(x)) * 40 for x in state)
        picture[down + 10 : down + 30, right + 10 : right + 30] = AGENT
        return picture


def _is_obstacle(state: State) -> Bool[Array, ""]:
    return (jnp.round(state) == jnp.asarray(OBSTACLES)).all(-1).any()
