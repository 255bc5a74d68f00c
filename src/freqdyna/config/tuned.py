"""The preset "tuned": per environment, an algorithm and settings that were tried there.

docs/presets.md says how they were chosen and what 10 seeds reached with them. As with every preset,
an entry must not change once it is released.
"""

from typing import Any

from freqdyna.config.history import Tables

_EVALUATION: dict[str, Any] = {
    "seeds": 10,
    "eval_episodes": 10,
    "eval_exploration": 0.0,
}

TUNED: Tables = {
    "CartPole-v1": {
        **_EVALUATION,
        "algorithm": "dyna-uniform",
        "steps": 30_000,
    },
    "Acrobot-v1": {
        **_EVALUATION,
        "algorithm": "dyna-uniform",
        "steps": 30_000,
        "scale_observations": True,
    },
    "MountainCar-v0": {
        **_EVALUATION,
        "algorithm": "dyna-frequency",
        "steps": 10_000,
        "learn_in_warmup": True,
    },
    "LunarLander-v3": {
        **_EVALUATION,
        "algorithm": "er",
        "steps": 100_000,
    },
    "Pendulum-v1": {
        **_EVALUATION,
        "algorithm": "naf",
        "steps": 6_000,
        "warmup_steps": 1000,
    },
}
"""Settings by the name of an environment."""
