"""A custom environment: cross a windy lake in a boat, to the far corner."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Lake(gymnasium.Env):
    """The unit square; actions move the boat in four directions, and wind adds noise."""

    observation_space = spaces.Box(0.0, 1.0, (2,))
    action_space = spaces.Discrete(4)
    directions = np.array([[0, 1], [0, -1], [-1, 0], [1, 0]])

    def reset(
        self, *, seed: int | None = None, options: Any = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start at the near shore."""
        super().reset(seed=seed)
        self.boat = self.np_random.uniform(0, 0.1, 2).astype(np.float32)
        return self.boat.copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Every step costs 1 until the far corner is reached."""
        wind = self.np_random.normal(0, 0.01, 2)
        self.boat = self.moved(self.boat, action, wind).astype(np.float32)
        return self.boat.copy(), -1.0, bool((self.boat > 0.9).all()), False, {}

    def simulate(self, states: np.ndarray, actions: np.ndarray) -> tuple[Any, Any, Any]:
        """The true model, if there is one: next states, rewards and whether they are terminal."""
        wind = np.random.default_rng().normal(0, 0.01, states.shape)
        moved = self.moved(states, actions, wind)
        return moved, np.full(len(states), -1.0), (moved > 0.9).all(-1)

    def moved(self, boats: np.ndarray, actions: Any, wind: np.ndarray) -> np.ndarray:
        """The boats' new positions."""
        return np.clip(boats + 0.1 * self.directions[actions] + wind, 0, 1)
