"""Every setting of every training, so that a later default of the library changes no figure.

A training states its environment, its algorithm, and in what it differs from these tables.
"""

from typing import Any

from freqdyna.config import Config

Settings = dict[str, Any]

EVERYWHERE: Settings = {
    "algorithm": "er",
    "env": "MountainCar-v0",
    "env_kwargs": (),
    "seeds": 30,
    "first_seed": 0,
    "steps": 50_000,
    "batch_size": 32,
    "learning_rate": 1e-3,
    "tabular_learning_rate": 0.1,
    "discount": 0.99,
    "activation": "tanh",
    "target_period": 1000,
    "target_rate": 0.005,
    "double": False,
    "loss": "squared",
    "max_gradient_norm": None,
    "exploration": 0.1,
    "exploration_initial": 1.0,
    "exploration_fraction": 0.0,
    "warmup_steps": 5000,
    "learn_in_warmup": False,
    "buffer_size": 100_000,
    "priority_exponent": 0.6,
    "search_control": None,
    "search_states": 20,
    "search_candidates": 200,
    "simulated_share": 0.5,
    "queue_size": 100_000,
    "planning_exploration": 0.1,
    "rollout_length": 1,
    "model_learning_rate": 1e-4,
    "model_hidden": (64, 64),
    "model_updates": 1,
    "ensemble_size": 5,
    "ensemble_outcome": "mean",
    "frequency_probability": 0.5,
    "frequency_network": "online",
    "gradient_weight": 1.0,
    "hessian_weight": 1.0,
    "climb_step_size": 0.01,
    "climb_noise": 0.01,
    "climb_noise_scales": "variance",
    "climb_preconditioner": "covariance",
    "climb_boundary": "restart",
    "climb_keep_terminal": False,
    "climb_noise_on_start": False,
    "climb_restart_when_stuck": False,
    "climb_restart_rule": "new",
    "climb_vanishing": "sum",
    "climb_limit": 200,
    "climb_iterations": 10,
    "climb_persistent": False,
    "reward_noise": 0.0,
    "goal_reward": None,
    "walls_in_state_space": None,
    "collision": None,
    "scale_observations": False,
    "eval_every": 500,
    "eval_episodes": 1,
    "snapshot_steps": (),
    "devices": None,
}
"""What is the same in all environments, unless a training states another value."""

_DISCRETE: Settings = {
    "planning_steps": 10,
    "hidden": (32, 32),
    "model": "true",
    "model_termination": "known",
    "episode_limit": 2000,
    "eval_exploration": 0.05,
}
_CONTINUOUS: Settings = {
    "planning_steps": 5,
    "hidden": (64, 64),
    "model": "learned",
    "model_termination": "learned",
    "episode_limit": 1000,
    "eval_exploration": 0.0,
}
BY_ENVIRONMENT: dict[str, Settings] = {
    "MountainCar-v0": {**_DISCRETE, "learn_in_warmup": True},
    "GridWorld": _DISCRETE,
    "MazeGridWorld": {
        **_DISCRETE,
        "planning_steps": 30,
        "hidden": (64, 64),
        "search_states": 50,
    },
    "DynaMaze": _DISCRETE,
    "Hopper-v5": _CONTINUOUS,
    "Walker2d-v5": _CONTINUOUS,
}

_PUBLISHED: Settings = {
    # In what the published code differs from the tables above.
    "learn_in_warmup": False,  # no update before 5,000 samples
    "climb_noise_scales": "deviation",
    "climb_boundary": "project",  # it clips states to their bounds
    "climb_noise": 0.05,  # in its configuration file
    "climb_noise_on_start": True,
    "climb_restart_when_stuck": True,  # a step shorter than 1e-5
    "climb_restart_rule": "previous",
    "climb_vanishing": "each_term",
    "frequency_network": "target",  # for g; V is computed with the online network
    "queue_size": 1_000_000,
    "priority_exponent": 1.0,  # in its configuration file, for an algorithm that is missing
}
_PUBLISHED_BY_ENVIRONMENT: dict[str, Settings] = {
    "MountainCar-v0": {"goal_reward": 1.0},
    "MazeGridWorld": {
        "goal_reward": 0.0,
        "walls_in_state_space": True,  # climbs are bounded by the square alone
        "collision": "end_point",
        "climb_preconditioner": "identity",
        "climb_keep_terminal": True,
    },
}
_PUBLISHED_BY_ALGORITHM: dict[str, Settings] = {
    "dyna-value": {"activation": "relu", "climb_step_size": 0.1},
    "dyna-frequency": {},
}
PUBLISHED = "published"
"""With the setting `preset` of this value, a training has those of the published code."""


def complete(stated: Settings) -> Config:
    """The configuration of a training, with every setting, from what it states."""
    own = {name: value for name, value in stated.items() if name != "preset"}
    env, algorithm = own["env"], own["algorithm"]
    table = EVERYWHERE | BY_ENVIRONMENT.get(env, {})
    if stated.get("preset") == PUBLISHED:
        table |= _PUBLISHED | _PUBLISHED_BY_ENVIRONMENT[env] | _PUBLISHED_BY_ALGORITHM[algorithm]
    return Config(**(table | own))
