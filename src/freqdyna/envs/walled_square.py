"""The unit square with walls: the common base of GridWorld and MazeGridWorld."""

from typing import ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.config import NotNegative
from freqdyna.core import unrolled
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.envs.picture import COLORS, FLOOR, PIXELS, Landmark, Painter, draw_agent

STEP = 0.05
START_SIZE = 0.05
GOAL_CORNER = 0.95
LOW, HIGH = np.zeros(2, np.float32), np.ones(2, np.float32)
DIRECTIONS = np.array([[0, 1], [0, -1], [-1, 0], [1, 0]], np.float32)  # up, down, left, right


class Wall(NamedTuple):
    """A full-height wall over x in [left, right] with one hole over y in [bottom, top]."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def hole_center(self) -> tuple[float, float]:
        """The centre of the hole."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def blocks(self) -> list[tuple[float, float, float, float]]:
        """The solid parts as (left, bottom, right, top); none where the hole touches the edge."""
        parts = [(0.0, self.bottom), (self.top, 1.0)]
        return [(self.left, low, self.right, high) for low, high in parts if high > low]


class WalledSquare(Environment):
    """Walk from the bottom left corner to the top right one; the state is (x, y)."""

    walls: eqx.AbstractClassVar[tuple[Wall, ...]]

    num_actions: ClassVar[int] = 4
    noise_size: ClassVar[int] = 1
    low: ClassVar[np.ndarray] = LOW
    high: ClassVar[np.ndarray] = HIGH

    coordinates: ClassVar[tuple[str, ...]] = ("x", "y")
    action_names: ClassVar[tuple[str, ...]] = ("up", "down", "left", "right")

    goal_reward: float = eqx.field(default=0.0, static=True)
    """Reward of the step that reaches the goal; the reward of every other step is -1."""
    move_noise: NotNegative = eqx.field(default=0.01, static=True)
    """Standard deviation of the noise on the length of a move."""
    walls_in_state_space: bool = eqx.field(default=False, static=True)
    """Whether the insides of walls are states: nobody walks there, but planning may start there."""
    collision: Literal["segment", "end_point"] = eqx.field(default="segment", static=True)
    """Whether a wall refuses a move that intersects it ("segment"), or one that ends in it
    ("end_point"). From inside a wall, every move intersects it: with "segment" none leads out, with
    "end_point" those that end outside do."""

    @property
    def blocks(self) -> np.ndarray:
        """The solid rectangles, one row (left, bottom, right, top) each, shape (blocks, 4).

        They extend beyond the edge of the square: a wall that ended there would leave the edge
        itself free, and moves are clipped to exactly that edge.
        """
        solid = np.array([block for wall in self.walls for block in wall.blocks()], np.float32)
        solid[solid[:, 1] <= 0, 1] -= 1
        solid[solid[:, 3] >= 1, 3] += 1
        return solid

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """Start, goal, the solid parts of the walls, and their holes."""
        blocks = [block for wall in self.walls for block in wall.blocks()]
        return (
            Landmark("start", (0.0, 0.0), (START_SIZE, START_SIZE)),
            Landmark("goal", (GOAL_CORNER, GOAL_CORNER), (1.0, 1.0)),
            *(Landmark("wall", (x0, y0), (x1, y1)) for x0, y0, x1, y1 in blocks),
            *(Landmark("hole", (w.left, w.bottom), (w.right, w.top)) for w in self.walls),
        )

    def reset(self, key: PRNGKeyArray) -> State:
        """A random state in the bottom left corner."""
        return jax.random.uniform(key, (2,), maxval=START_SIZE)

    def move(self, state: State, action: Action, noise: Float[Array, " 1"]) -> State:
        """Move by 0.05 plus noise; the state does not change if a wall refuses the move."""
        length = STEP + self.move_noise * noise[0]
        target = jnp.clip(state + length * jnp.asarray(DIRECTIONS)[action], LOW, HIGH)
        start = state if self.collision == "segment" else target
        return jnp.where(self._crosses_wall(start, target), state, target)

    def terminal(self, state: State) -> Terminal:
        """In the top right corner."""
        return unrolled.every(state > GOAL_CORNER)

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """-1 per step, `goal_reward` for the step that reaches the goal."""
        return jnp.where(self.terminal(next_state), self.goal_reward, -1.0)

    def contains(self, state: State) -> Bool[Array, ""]:
        """Inside the square and, unless walls are in the state space, not inside a wall."""
        return self._is_free(state)

    def project(self, state: State) -> State:
        """Clip to the square.

        Unless walls are in the state space, states in a wall are then moved to the nearest free
        point of its faces.
        """
        state = jnp.clip(state, LOW, HIGH)
        if self.walls_in_state_space:
            return state
        blocks = self.blocks
        faces = jnp.asarray(blocks)  # moving one coordinate to a face leaves the block
        candidates = jnp.concatenate(
            [
                jnp.stack([faces[:, 0], jnp.full(len(blocks), state[1])], -1),
                jnp.stack([faces[:, 2], jnp.full(len(blocks), state[1])], -1),
                jnp.stack([jnp.full(len(blocks), state[0]), faces[:, 1]], -1),
                jnp.stack([jnp.full(len(blocks), state[0]), faces[:, 3]], -1),
                state[None],
            ]
        )
        distance = jnp.linalg.norm(candidates - state, axis=-1)
        free = jax.vmap(self._is_free)(candidates)
        return candidates[jnp.argmin(jnp.where(free, distance, jnp.inf))]

    def painter(self) -> Painter:
        """Draws `picture`."""
        return Painter(self.picture, steps_a_second=20)

    def picture(self, state: np.ndarray) -> np.ndarray:
        """An image with dark walls, blue holes, green start, yellow goal and red agent; y is up.

        Returns:
            Shape (PIXELS, PIXELS, 3), type uint8.

        """
        picture = np.full((PIXELS, PIXELS, 3), FLOOR, np.uint8)
        for landmark in self.landmarks:
            (left, bottom), (right, top) = landmark.low, landmark.high
            columns = slice(round(left * PIXELS), round(right * PIXELS))
            rows = slice(round((1 - top) * PIXELS), round((1 - bottom) * PIXELS))
            picture[rows, columns] = COLORS[landmark.kind]
        draw_agent(picture, state[:2])
        return picture

    def _is_free(self, place: State) -> Bool[Array, ""]:
        """Whether (x, y) is in the square and, unless walls are states, not inside a wall."""
        inside = unrolled.every((place >= LOW) & (place <= HIGH))
        return inside if self.walls_in_state_space else inside & ~self._crosses_wall(place, place)

    def _crosses_wall(self, start: State, end: State) -> Bool[Array, ""]:
        """Whether the axis-parallel segment from `start` to `end` intersects a block."""
        lower, upper = jnp.minimum(start, end), jnp.maximum(start, end)
        blocks = jnp.asarray(self.blocks)
        outside = ~unrolled.every((lower < blocks[:, 2:]) & (upper > blocks[:, :2]))
        return ~unrolled.every(outside)
