"""Every setting of every training, so that a later default of the library changes no figure.

A training states its environment, its algorithm, and in what it differs from these tables.
"""

from typing import Any

from freqdyna.agents import presets
from freqdyna.agents.algorithms import completed, has_setting
from freqdyna.config import NAMED, Config, flattened

Settings = dict[str, Any]

EVERYWHERE: Settings = flattened(
    {
        **{"batch_size": 32, "warmup_steps": 5000, "eval_every": 500, "eval_episodes": 1},
        **{"seeds": 30, "first_seed": 0, "steps": 50_000, "devices": None, "snapshot_steps": ()},
        **{"exploration": 0.1, "exploration_initial": 1.0, "exploration_steps": 0},
        **{"learn_in_warmup": False, "scale_observations": False},
        **{"exploration_repeats": 1, "acting_network": "online"},
        "env": {
            **{"reward_noise": 0.0, "move_noise": 0.01},
            **{"walls_in_state_space": False, "collision": "segment"},
        },
        "learner": {
            **{"learning_rate": 1e-3, "discount": 0.99, "activation": "tanh", "loss": "squared"},
            **{"double": False, "layer_norm": False, "n_step": 1, "ties": "first"},
            "max_gradient_norm": None,
        },
        "replay": {"capacity": 100_000, "prioritized_share": 0.0, "exponent": 0.6},
        "planning": {
            **{"simulated_share": 0.5, "queue_size": 100_000, "exploration": 0.1},
            **{"model_updates": 1, "rollout_length": 1},
        },
        "model": {"learning_rate": 1e-4, "hidden": (64, 64)},
        "trust": "always",
        "search_control": {
            **{"states": 20, "limit": 200, "boundary": "restart", "keep_terminal": False},
            **{"step_size": 0.01, "noise": 0.01, "noise_scales": "variance"},
            **{"preconditioner": "covariance", "noise_on_start": False},
            **{"restart_when_stuck": False, "restart_rule": "new", "vanishing": "sum"},
            **{"probability": 0.5, "network": "online"},
            **{"gradient_weight": 1.0, "hessian_weight": 1.0},
        },
    }
)
"""What is the same in all environments, unless a training states another value."""

_DISCRETE: Settings = {
    **{"planning_steps": 10, "learner.hidden": (32, 32), "eval_exploration": 0.05},
    **{"learner.target_period": 1000, "learner.target_rate": 1.0},
    **{"model": "true", "model.termination": "known", "model.state_space": "known"},
    "env.episode_limit": 2000,
}
_CONTINUOUS: Settings = {
    **{"planning_steps": 5, "learner.hidden": (64, 64), "eval_exploration": 0.0},
    **{"learner.target_period": 1, "learner.target_rate": 0.005},
    **{"model": "learned", "model.termination": "learned", "model.state_space": "known"},
    "env.episode_limit": 1000,
}
_MAZE: Settings = {
    **{"planning_steps": 30, "learner.hidden": (64, 64), "search_control.states": 50},
    "env.goal_reward": 0.0,
}
BY_ENVIRONMENT: dict[str, Settings] = {
    "MountainCar-v0": {**_DISCRETE, "learn_in_warmup": True, "env.goal_reward": -1.0},
    "GridWorld": {**_DISCRETE, "env.goal_reward": 0.0},
    "MazeGridWorld": {**_DISCRETE, **_MAZE},
    "Hopper-v5": _CONTINUOUS,
    "Walker2d-v5": _CONTINUOUS,
}
PUBLISHED = "published"
"""With the setting `preset` of this value, a training has those of the published code."""


def complete(stated: Settings) -> Config:
    """The configuration of a training, with every setting, from what it states."""
    stated = dict(stated)
    table = EVERYWHERE | BY_ENVIRONMENT.get(stated["env"], {})
    if stated["algorithm"] == "prioritized-er":
        table |= {"replay.prioritized_share": 0.5}
    if stated.pop("preset", None) == PUBLISHED:
        preset = presets.PRESETS[PUBLISHED]
        table |= {**preset.tables[presets.EVERYWHERE], **preset.tables[stated["env"]]}
        table |= preset.by_algorithm[stated["algorithm"]]
    names = ("algorithm", *NAMED)
    named = Config.of({name: (table | stated)[name] for name in names if name in table | stated})
    used = {name: value for name, value in table.items() if has_setting(named, name)}
    return completed(Config.of(used | stated))
