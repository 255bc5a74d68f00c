"""Does the unit of rewards matter? `er` and `dyna` on PuddleWorld, rewards times 0.01, 1 and 100.

`python benchmarks/reward_units.py` trains what `results/reward-units.json` lacks, and prints the
mean return after the warm-up, divided by the factor: about 15 minutes on one core.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from samples import interval, origin

import freqdyna
from freqdyna.envs import PuddleWorld
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


def main() -> None:
    """Train and print."""
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    for algorithm in ("er", "dyna"):
        for factor in FACTORS:
            name = f"{algorithm}, {Puddles.name}, times {factor:g}"
            if name not in stored:
                common: dict[str, Any] = {"seeds": SEEDS, "steps": STEPS}
                puddles = Puddles(factor=factor)
                common |= {"eval_every": EVAL_EVERY, "eval_episodes": 5}
                result = freqdyna.train(puddles, algorithm, **common)
                returns = (result.mean_return() / factor).round(3)
                stored[name] = {"returns": returns.tolist(), "origin": origin()}
                STORED.write_text(json.dumps(stored, indent=1) + "\n")
            returns = np.array(stored[name]["returns"])
            print(f"{name}: {returns.mean():.1f} {np.round(interval(returns), 1)}", flush=True)


if __name__ == "__main__":
    main()
