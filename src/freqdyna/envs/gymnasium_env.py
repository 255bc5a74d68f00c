"""Our own environments with Gymnasium's interface, for Stable-Baselines3 and other libraries.

Importing this module registers them, as `freqdyna/MazeGridWorld-v0` and so on. Gymnasium imports it
for `gymnasium.make("freqdyna.envs.gymnasium_env:freqdyna/MazeGridWorld-v0")`.
"""

from typing import Any, SupportsInt

import gymnasium
import jax
import numpy as np

from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.dyna_maze import DynaMaze
from freqdyna.envs.grid_world import GridWorld
from freqdyna.envs.maze_grid_world import MazeGridWorld
from freqdyna.envs.puddle_world import PuddleWorld
from freqdyna.envs.tube_grid_world import TUBE_GRID_WORLDS
from freqdyna.envs.walled_square import WalledSquare

_Kind = type[WalledSquare] | type[DynaMaze] | type[PuddleWorld]
_OURS: tuple[_Kind, ...] = (GridWorld, MazeGridWorld, DynaMaze, PuddleWorld, *TUBE_GRID_WORLDS)
_KINDS = {kind.name: kind for kind in _OURS}


class GymnasiumEnv(gymnasium.Env[np.ndarray, SupportsInt]):
    """An environment with Gymnasium's interface; Gymnasium's wrapper adds the time limit."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 - Gymnasium's own type

    def __init__(self, name: str, render_mode: str | None = None, **settings: Any) -> None:
        if "episode_limit" in settings:
            raise FreqdynaError("episode_limit is set by Gymnasium; pass max_episode_steps instead")
        env = _KINDS[name](**settings)
        if render_mode not in (None, "rgb_array"):
            raise FreqdynaError(f"render_mode is {render_mode!r}; it must be None or 'rgb_array'")
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Box(env.low, env.high)
        self.action_space = gymnasium.spaces.Discrete(env.num_actions)
        self._env = env
        self._reset = jax.jit(env.reset)
        self._transition = jax.jit(env.transition_from_noise)
        self._state = np.zeros_like(env.low)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode; see `gymnasium.Env.reset`."""
        super().reset(seed=seed, options=options)
        key = jax.random.key(int(self.np_random.integers(2**31)))
        self._state = np.array(self._reset(key))
        return self._state.copy(), {}

    def step(self, action: SupportsInt) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one step; the episode is never truncated here."""
        if not self.action_space.contains(action):
            raise FreqdynaError(f"action is {action!r}; it must be in {self.action_space}")
        noise = self.np_random.standard_normal(1 + self._env.noise_size, np.float32)
        state, reward, terminal = self._transition(self._state, np.int32(int(action)), noise)
        self._state = np.array(state)
        return self._state.copy(), float(reward), bool(terminal), False, {}

    def render(self) -> np.ndarray | None:
        """An image of the state if `render_mode` is "rgb_array", otherwise None."""
        return None if self.render_mode is None else self._env.picture(self._state)


for _name, _kind in _KINDS.items():
    gymnasium.register(
        id=f"freqdyna/{_name}-v0",
        entry_point=f"{__name__}:GymnasiumEnv",
        kwargs={"name": _name},
        max_episode_steps=_kind().episode_limit,
    )
