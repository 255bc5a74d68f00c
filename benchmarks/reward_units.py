"""Does the unit of rewards matter? Rewards times 0.01, 1 and 100.

`er` and `dyna` with DQN on PuddleWorld, and `er` with SAC on Pendulum, with networks that suit a
CPU. `python benchmarks/reward_units.py` trains what `results/reward-units.json` lacks, and prints
the mean return after the warm-up, divided by the factor: about 40 minutes on one core.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from samples import interval, origin

import freqdyna
from freqdyna.envs import Pendulum, PuddleWorld
from freqdyna.envs.base import Action, Reward, State

STORED = Path(__file__).parents[1] / "results" / "reward-units.json"
SEEDS, STEPS, EVAL_EVERY = 10, 4_000, 500
FACTORS = 0.01, 1.0, 100.0


class Puddles(PuddleWorld):
    """PuddleWorld with other rewards."""

    name: ClassVar[str] = "Puddles"
    factor: float = 1.0

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """Times the factor."""
        return self.factor * super().reward(state, action, next_state)


class Swing(Pendulum):
    """Pendulum with other rewards."""

    name: ClassVar[str] = "Swing"
    factor: float = 1.0

    def reward(self, state: State, action: Action, next_state: State) -> Reward:
        """Times the factor."""
        return self.factor * super().reward(state, action, next_state)


SMALL = {"learner.hidden": (64, 64), "learner.critics": 2, "batch_size": 64}
"""The settings of SAC."""


def main() -> None:
    """Train and print."""
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    cases: list[tuple[str, type[Any], dict[str, Any]]]
    cases = [("er", Puddles, {}), ("dyna", Puddles, {}), ("er", Swing, SMALL)]
    for algorithm, env, settings in cases:
        for factor in FACTORS:
            name = f"{algorithm}, {env.name}, times {factor:g}"
            if name not in stored:
                common: dict[str, Any] = {"seeds": SEEDS, "steps": STEPS, **settings}
                common |= {"eval_every": EVAL_EVERY, "eval_episodes": 5}
                result = freqdyna.train(env(factor=factor), algorithm, **common)
                returns = (result.mean_return() / factor).round(3)
                stored[name] = {"returns": returns.tolist(), "origin": origin()}
                STORED.write_text(json.dumps(stored, indent=1) + "\n")
            returns = np.array(stored[name]["returns"])
            print(f"{name}: {returns.mean():.1f} {np.round(interval(returns), 1)}", flush=True)


if __name__ == "__main__":
    main()
