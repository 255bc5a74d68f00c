"""A user's environment on which planning once hurt: `er` and `dyna` as in version 0.2, and now.

`python benchmarks/thermostat.py` trains what `results/thermostat.json` lacks, and prints it: about
20 minutes on two cores.
"""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from samples import origin

import freqdyna

STORED = Path(__file__).parents[1] / "results" / "thermostat.json"
SEEDS, STEPS, EVAL_EVERY = 6, 8_000, 500
OLD: dict[str, Any] = {"preset": "paper", "eval_every": EVAL_EVERY}
AGENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "er, as in 0.2": ("er", OLD),
    "dyna, as in 0.2": ("dyna", {**OLD, "model": "learned"}),
    "er": ("er", {}),
    "dyna": ("dyna", {}),
    "dyna, trust always": ("dyna", {"model": "learned", "trust": "always"}),
}


class Thermostat(gym.Env[np.ndarray, Any]):
    """Keep two rooms at 20 degrees for a day; both have a heater, one of them a slow one.

    Observed: both rooms, the wall, the outside (degrees), the slow heater, and the hour, in a box
    of ±1000. The reward is minus a tenth of the mean error, and minus the cost of heating.
    """

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-1000.0, 1000.0, (6,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Any weather, and any hour."""
        super().reset(seed=seed)
        uniform = self.np_random.uniform
        self.rooms, self.wall = uniform(10, 25, 2), uniform(8, 20)
        self.outside, self.heat, self.hour = uniform(-5, 15), 0.0, uniform(0, 24)
        return self._observation(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """A quarter of an hour; the bits of the action switch the heaters."""
        self.heat += 0.5 * ((action & 1) * 8.0 - self.heat)
        second = (action >> 1) * 4.0
        heating = np.array([0.3 * self.heat, 0.3 * second])
        exchange = 0.05 * (self.rooms[::-1] - self.rooms)
        mean = self.rooms.mean()
        self.rooms = self.rooms + 0.2 * (self.wall - self.rooms) + heating + exchange
        self.wall += 0.05 * (self.outside - self.wall) + 0.05 * (mean - self.wall)
        self.hour = (self.hour + 0.25) % 24
        noise = 0.05 * self.np_random.normal()
        self.outside += 0.2 * np.sin(2 * np.pi * self.hour / 24) + noise
        cost = 0.1 * float(np.abs(self.rooms - 20).mean()) + 0.005 * (self.heat + second)
        return self._observation(), -cost, False, False, {}

    def _observation(self) -> np.ndarray:
        others = self.wall, self.outside, self.heat, self.hour
        return np.array([*self.rooms, *others], np.float32)


def make() -> gym.Env[np.ndarray, Any]:
    """A day has 96 steps."""
    return gym.wrappers.TimeLimit(Thermostat(), 96)


def main() -> None:
    """Train and print."""
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    for name, (algorithm, settings) in AGENTS.items():
        if name not in stored:
            common = {"seeds": SEEDS, "steps": STEPS, "eval_every": EVAL_EVERY, "eval_episodes": 5}
            result = freqdyna.train(make, algorithm, **common | settings)
            trust = result.metrics.get("trust")
            stored[name] = {
                "returns": result.returns.round(3).tolist(),
                "trust": None if trust is None else float(np.nanmean(trust)),
                "origin": origin(),
            }
            STORED.write_text(json.dumps(stored, indent=1) + "\n")
    for name, of_agent in stored.items():
        returns = np.array(of_agent["returns"])
        last = returns[:, -3:].mean(1)
        error = last.std(ddof=1) / len(last) ** 0.5
        print(f"{name}: {returns.mean():.1f}, at the end {last.mean():.1f} ± {error:.1f}")


if __name__ == "__main__":
    main()
