"""PuddleWorld (Boyan & Moore, 1995), as defined by Sutton (1996).

Where published implementations differ, docs/environments.md says which one this is.
"""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.config import Count, NotNegative
from freqdyna.core import unrolled
from freqdyna.envs.base import Action, Environment, Reward, State, Terminal
from freqdyna.envs.mazes import DIRECTIONS, STEP
from freqdyna.envs.names import built_in
from freqdyna.envs.picture import PIXELS, Landmark, Painter, square_painter

GOAL_SUM = 1.9
GOAL_SIZE = 2 - GOAL_SUM
"""The length of the goal's two sides along the edges of the square."""
RADIUS = 0.1
COST = 400.0
"""The cost of a step per unit of depth of the state that it reaches."""


class Puddle(NamedTuple):
    """All points within RADIUS of a segment from its left or lower end to the other."""

    start: tuple[float, float]
    end: tuple[float, float]
    """Equal to `start` in one coordinate, and greater in the other."""

    def depth(self, state: State) -> Float[Array, ""]:
        """The distance from `state` to the edge of the puddle; 0 outside."""
        nearest = jnp.clip(state, jnp.asarray(self.start), jnp.asarray(self.end))
        return jnp.maximum(RADIUS - unrolled.norm(state - nearest), 0.0)


PUDDLES = (Puddle((0.1, 0.75), (0.45, 0.75)), Puddle((0.45, 0.4), (0.45, 0.8)))


@built_in
class PuddleWorld(Environment):
    """Walk to the top right corner of the unit square around two puddles; the state is (x, y)."""

    name: ClassVar[str] = "PuddleWorld"
    num_actions: ClassVar[int] = 4
    noise_size: ClassVar[int] = 2
    low: ClassVar[np.ndarray] = np.zeros(2, np.float32)
    high: ClassVar[np.ndarray] = np.ones(2, np.float32)

    coordinates: ClassVar[tuple[str, ...]] = ("x", "y")
    action_names: ClassVar[tuple[str, ...]] = ("up", "down", "left", "right")

    episode_limit: Count = eqx.field(default=200, static=True)
    goal_reward: float = eqx.field(default=-1.0, static=True)
    """Reward of the step that reaches the goal; the reward of every other step is -1, minus 400
    times the depth of the state that it reaches."""
    move_noise: NotNegative = eqx.field(default=0.01, static=True)
    """Standard deviation of the noise that each move adds to both coordinates."""

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """The goal, a triangle, and the puddles."""
        corner = 1 - GOAL_SIZE
        goal = Landmark("goal", (corner, corner), (1.0, 1.0), ((corner, 1, 1), (1, corner, 1)))
        return (goal, *map(_landmark, PUDDLES))

    def reset(self, key: PRNGKeyArray) -> State:
        """A uniformly random state outside the goal."""
        share, height = jax.random.uniform(key, (2,))
        # The x below which this share of the free area is. Beyond `corner`, where the free
        # height falls from 1 as 1.9 - x, that area is `corner` + (1 - (1.9 - x)²) / 2.
        corner = 1 - GOAL_SIZE
        area = share * (1 - GOAL_SIZE**2 / 2)
        free = jnp.sqrt(1 - 2 * jnp.maximum(area - corner, 0.0))
        x = jnp.where(area < corner, area, GOAL_SUM - free)
        return jnp.stack([x, height * free])

    def move(self, state: State, action: Action, noise: Float[Array, " 2"]) -> State:
        """Move by 0.05, with noise on both coordinates; the edge of the square stops."""
        step = STEP * jnp.asarray(DIRECTIONS)[action] + self.move_noise * noise
        return jnp.clip(state + step, self.low, self.high)

    def terminal(self, state: State) -> Terminal:
        """In the top right corner: x + y is at least 1.9."""
        return state[0] + state[1] >= GOAL_SUM

    def depth(self, state: State) -> Float[Array, ""]:
        """The sum of the depths in both puddles, which overlap."""
        return sum((puddle.depth(state) for puddle in PUDDLES), jnp.zeros(()))

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """-1 per step minus 400 times the depth reached; `goal_reward` at the goal."""
        usual = -1.0 - COST * self.depth(next_state)
        return jnp.where(self.terminal(next_state), self.goal_reward, usual)

    def painter(self) -> Painter:
        """Draws blue puddles, darker where they are deeper, yellow goal and red agent."""
        places = (jnp.arange(PIXELS) + 0.5) / PIXELS
        depth = jax.vmap(jax.vmap(self.depth))(jnp.stack(jnp.meshgrid(places, places[::-1]), -1))
        return square_painter(self.landmarks, 1 - np.minimum(depth / RADIUS, 1)[..., None] / 2)


def _landmark(puddle: Puddle) -> Landmark:
    """The outline of a puddle."""
    (left, bottom), (right, top) = puddle
    # Closer together at the ends, where the outline is round.
    bend = RADIUS * np.sin(np.linspace(0, np.pi / 2, 13))
    rise = np.sqrt(RADIUS**2 - bend**2)
    x = np.concatenate([left - bend[::-1], right + bend]).tolist()
    y = np.concatenate([rise[::-1], rise]).tolist()
    low, high = (left - RADIUS, bottom - RADIUS), (right + RADIUS, top + RADIUS)
    spans = tuple((a, bottom - b, top + b) for a, b in zip(x, y, strict=True))
    return Landmark("puddle", low, high, spans)
