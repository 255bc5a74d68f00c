"""Our walled squares as ordinary Gymnasium environments, for Stable-Baselines3 and its like."""

from typing import Any, SupportsInt

import gymnasium
import jax
import numpy as np

from freqdyna.envs import make
from freqdyna.envs.walled_square import GOAL_CORNER, START_SIZE, WalledSquare
from freqdyna.errors import FreqdynaError

PIXELS = 400
FLOOR, WALL, HOLE = (245, 245, 245), (60, 60, 60), (173, 216, 240)
START, GOAL, AGENT = (170, 220, 170), (255, 205, 90), (200, 30, 30)


class GymnasiumEnv(gymnasium.Env[np.ndarray, SupportsInt]):
    """One walled square behind Gymnasium's interface; the time limit is Gymnasium's own wrapper."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 - Gymnasium's own type

    def __init__(self, name: str, render_mode: str | None = None, **settings: Any) -> None:
        env = make(name, **settings)
        if not isinstance(env, WalledSquare):
            raise FreqdynaError(f"{name} is Gymnasium's own; make it with gymnasium.make")
        if render_mode not in (None, "rgb_array"):
            raise FreqdynaError(f"render_mode is {render_mode!r}; it must be None or 'rgb_array'")
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Box(env.low, env.high)
        self.action_space = gymnasium.spaces.Discrete(env.num_actions)
        self._env = env
        self._reset = jax.jit(env.reset)
        self._transition = jax.jit(env.transition_from_noise)
        self._state = np.zeros(2, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed, options=options)
        key = jax.random.key(int(self.np_random.integers(2**31)))
        self._state = np.array(self._reset(key))
        return self._state.copy(), {}

    def step(self, action: SupportsInt) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step; never truncates by itself."""
        noise = self.np_random.standard_normal(1 + self._env.noise_size, np.float32)
        state, reward, terminal = self._transition(self._state, np.int32(int(action)), noise)
        self._state = np.array(state)
        return self._state.copy(), float(reward), bool(terminal), False, {}

    def render(self) -> np.ndarray | None:
        """Walls dark, holes blue, start green, goal yellow, the agent a red disc; y points up."""
        if self.render_mode is None:
            return None
        picture = np.full((PIXELS, PIXELS, 3), FLOOR, np.uint8)

        def paint(left: float, bottom: float, right: float, top: float, color: Any) -> None:
            columns = slice(round(left * PIXELS), round(right * PIXELS))
            picture[round((1 - top) * PIXELS) : round((1 - bottom) * PIXELS), columns] = color

        paint(0, 0, START_SIZE, START_SIZE, START)
        paint(GOAL_CORNER, GOAL_CORNER, 1, 1, GOAL)
        for wall in self._env.walls:
            paint(wall.left, 0, wall.right, 1, WALL)
            paint(wall.left, wall.bottom, wall.right, wall.top, HOLE)
        rows, columns = np.mgrid[:PIXELS, :PIXELS]
        x, y = self._state
        disc = np.hypot(columns - x * PIXELS, rows - (1 - y) * PIXELS) < PIXELS / 50
        picture[disc] = AGENT
        return picture
