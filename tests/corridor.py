"""A small Gymnasium environment, as a user might write it, and settings of a small run."""

import gymnasium
import numpy as np
from gymnasium import spaces

SMALL = {
    "seeds": 3,
    "steps": 60,
    "warmup_steps": 20,
    "planning_steps": 2,
    "learner.hidden": (8,),
    "search_control.states": 3,
    "search_control.limit": 10,
    "eval_every": 30,
    "env.episode_limit": 40,
    "progress": False,
}


class Corridor(gymnasium.Env):
    """Walk right to 1 in steps of about 0.1; a position and a clock without bounds."""

    observation_space = spaces.Box(np.array([0, -np.inf]), np.array([1, np.inf]), dtype=np.float64)
    action_space = spaces.Discrete(2, start=5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([self.np_random.uniform(0, 0.1), 0.0])
        return self.state.copy(), {}

    def step(self, action):
        assert action in (5, 6)
        length = 0.1 + 0.01 * self.np_random.standard_normal()
        self.state[0] = np.clip(self.state[0] + length * (2 * (action - 5) - 1), 0, 1)
        self.state[1] += 1
        return self.state.copy(), -1.0, bool(self.state[0] >= 1), False, {}

    def simulate(self, states, actions):
        moved = np.clip(states[:, 0] + 0.1 * (2 * (actions - 5) - 1), 0, 1)
        return np.stack([moved, states[:, 1] + 1], 1), np.full(len(states), -1.0), moved >= 1
