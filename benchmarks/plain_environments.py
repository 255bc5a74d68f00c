"""Two environments as a user would write them, for the confirmation of the defaults.

Plain Python, six and eight observations, and Boxes declared far wider than what is ever visited.
They were written before any training on them, and nothing was chosen with them.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


class Heating(gymnasium.Env[np.ndarray, np.int64]):
    """Keep a room near 21 degrees for a day, while heat costs money: 288 steps of 5 minutes."""

    def __init__(self) -> None:
        self.observation_space = Box(-100.0, 100.0, (6,))
        self.action_space = Discrete(3)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A cold room before dawn."""
        super().reset(seed=seed)
        self.time = 0
        self.room, self.wall = self.np_random.uniform(12, 18, 2)
        self.weather = self.np_random.uniform(-5, 10)
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Heat with 0, 1 or 2 kilowatts for five minutes."""
        outside = self._outside()
        self.room += 0.25 * action + 0.1 * (self.wall - self.room) + 0.02 * (outside - self.room)
        self.wall += 0.02 * (self.room - self.wall) + 0.01 * (outside - self.wall)
        self.weather += self.np_random.normal(0.0, 0.1)
        self.time += 1
        discomfort = min(abs(self.room - 21.0), 5.0)
        reward = -0.05 * discomfort - 0.02 * action * self._price()
        return self._observation(), float(reward), False, self.time >= 288, {}

    def _outside(self) -> float:
        return float(self.weather + 5.0 * np.sin(2 * np.pi * (self.time / 288 - 0.3)))

    def _price(self) -> float:
        return 2.0 if 84 <= self.time < 120 or 204 <= self.time < 252 else 1.0

    def _observation(self) -> np.ndarray:
        day = 2 * np.pi * self.time / 288
        numbers = self.room, self.wall, self._outside(), np.sin(day), np.cos(day), self._price()
        return np.array(numbers, np.float32)


class Docking(gymnasium.Env[np.ndarray, np.int64]):
    """Steer a probe past a drifting rock to a dock, and arrive slowly."""

    def __init__(self) -> None:
        self.observation_space = Box(-50.0, 50.0, (8,))
        self.action_space = Discrete(5)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A probe at rest on the left, the dock on the right, a rock between them."""
        super().reset(seed=seed)
        self.time = 0
        self.probe = np.array([-1.0, self.np_random.uniform(-1, 1)])
        self.speed = np.zeros(2)
        self.dock = np.array([1.0, self.np_random.uniform(-1, 1)])
        self.rock = np.array([self.np_random.uniform(-0.2, 0.2), self.np_random.uniform(-0.5, 0.5)])
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Thrust in one of four directions, or none."""
        thrust = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)][action])
        before = np.linalg.norm(self.dock - self.probe)
        self.speed = 0.98 * self.speed + 0.01 * thrust
        self.probe = self.probe + self.speed
        self.rock = self.rock + self.np_random.normal(0.0, 0.005, 2)
        self.time += 1
        distance = np.linalg.norm(self.dock - self.probe)
        hit = np.linalg.norm(self.rock - self.probe) < 0.15
        docked = distance < 0.1 and np.linalg.norm(self.speed) < 0.06
        lost = np.abs(self.probe).max() > 2
        reward = before - distance - 0.01 + 2.0 * docked - 1.0 * (hit or lost)
        return self._observation(), float(reward), bool(hit or docked or lost), False, {}

    def _observation(self) -> np.ndarray:
        parts = self.probe, self.speed, self.dock - self.probe, self.rock - self.probe
        return np.concatenate(parts).astype(np.float32)


gymnasium.register("Heating-v0", "plain_environments:Heating", max_episode_steps=288)
gymnasium.register("Docking-v0", "plain_environments:Docking", max_episode_steps=300)
