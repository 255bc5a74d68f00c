"""Mazes: the unit square with walls, and its tube in more coordinates.

The paper's noise of a move, N(0, 0.01), is read as a standard deviation, as in the code that its
authors published; docs/environments.md explains why.
"""

from typing import ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freqdyna.config import NotNegative
from freqdyna.core import unrolled
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.envs.names import built_in
from freqdyna.envs.picture import Landmark, Painter, square_painter

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
        """Draws dark walls, blue holes, green start, yellow goal and red agent."""
        return square_painter(self.landmarks)

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


@built_in
class GridWorld(WalledSquare):
    """The unit square with one wall, which the paper adopts from HC-Dyna; the state is (x, y)."""

    name: ClassVar[str] = "GridWorld"
    walls: ClassVar[tuple[Wall, ...]] = (Wall(0.5, 0.6, bottom=0.4, top=0.5),)


@built_in
class MazeGridWorld(WalledSquare):
    """The paper's maze (section 5.2): the unit square with three walls; the state is (x, y)."""

    name: ClassVar[str] = "MazeGridWorld"
    # The paper gives each hole by its left-top corner: (0.2, 0.5), (0.4, 1.0) and (0.7, 0.2).
    walls: ClassVar[tuple[Wall, ...]] = (
        Wall(0.2, 0.3, bottom=0.4, top=0.5),
        Wall(0.4, 0.5, bottom=0.9, top=1.0),
        Wall(0.7, 0.8, bottom=0.1, top=0.2),
    )


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
    """GridWorld in a box of n coordinates, of which an agent visits a thin tube.

    The task is that of GridWorld, in the first two coordinates. The others fluctuate around centres
    that depend on the first two, whatever the agent does. `with_coordinates` gives the class for an
    n; docs/environments.md explains why the optimal return does not depend on it.
    """

    @staticmethod
    def with_coordinates(n: int) -> "type[TubeGridWorld]":
        """The class of environments named TubeGridWorld-n, with n coordinates, 2 or more."""
        if not isinstance(n, int) or n < 2:
            raise FreqdynaError(f"n is {n!r}; it must be an integer, 2 or greater")

        class Sized(TubeGridWorld):
            name: ClassVar[str] = f"TubeGridWorld-{n}"
            low: ClassVar[np.ndarray] = np.zeros(n, np.float32)
            high: ClassVar[np.ndarray] = np.ones(n, np.float32)
            noise_size: ClassVar[int] = n - 1  # of the move, and of each further coordinate

        Sized.__doc__ = (
            f"GridWorld in a box of {n} coordinates, of which an agent visits a thin tube."
        )
        Sized.__name__ = Sized.__qualname__ = f"TubeGridWorld{n}"
        return Sized

    def centers(self, place: Float[Array, " 2"]) -> Others:
        """The centres of the further coordinates at (x, y), waves in [0.25, 0.75]."""
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


for _n in SIZES:
    built_in(TubeGridWorld.with_coordinates(_n))
