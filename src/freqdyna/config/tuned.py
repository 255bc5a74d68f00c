"""The preset "tuned": per environment, an algorithm and settings that were tried there.

docs/choosing-an-algorithm.md says how they were chosen and what 10 seeds reached with them.
"""

from collections.abc import Mapping
from typing import Any

Tables = Mapping[str, Mapping[str, Any]]
"""Settings by the name of an environment."""

_EVALUATION: dict[str, Any] = {
    "seeds": 10,
    "eval_episodes": 10,
    "eval_exploration": 0.0,
}

TUNED: Tables = {
    "CartPole-v1": {
        **_EVALUATION,
        "algorithm": "dyna-uniform",
        "steps": 5_000,  # the return falls again later
        "warmup_steps": 1000,
        "planning_steps": 5,
        "batch_size": 128,
        "hidden": (16,),
        "target_period": 2000,
        "double": True,
        "loss": "huber",
        "scale_observations": True,
    },
    "Acrobot-v1": {
        **_EVALUATION,
        "algorithm": "dyna-uniform",
        "steps": 15_000,
        "warmup_steps": 1000,
        "planning_steps": 5,
        "batch_size": 64,
        "learning_rate": 5e-4,
        "hidden": (64, 64),
        "target_period": 200,
        "double": True,
        "loss": "huber",
        "scale_observations": True,
        "eval_every": 1000,
    },
    "MountainCar-v0": {
        **_EVALUATION,
        "algorithm": "dyna-uniform",
        "steps": 10_000,
        "warmup_steps": 1000,
        "target_period": 250,
        "scale_observations": True,
    },
    "LunarLander-v3": {
        **_EVALUATION,
        "algorithm": "er",
        "steps": 100_000,
        "warmup_steps": 1000,
        "planning_steps": 1,
        "batch_size": 64,
        "learning_rate": 5e-4,
        "hidden": (128, 128),
        "activation": "relu",
        "target_period": 250,
        "double": True,
        "loss": "huber",
        "exploration": 0.05,
        "exploration_fraction": 0.2,
        "scale_observations": False,
        "eval_every": 10_000,
        "eval_episodes": 5,  # of up to 1,000 steps each, in Python
    },
    "Pendulum-v1": {
        **_EVALUATION,
        "algorithm": "naf",
        "steps": 10_000,
        "warmup_steps": 1000,
        "batch_size": 64,
    },
}
"""Settings by the name of an environment."""
