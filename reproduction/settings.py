"""Every setting of every training, so that a later default of the library changes no figure.

A training states its environment, its algorithm, and in what it differs from these tables.
"""

from typing import Any

from freqdyna.agents.algorithms import completed, has_setting
from freqdyna.config import Config

Settings = dict[str, Any]

SHORT = {
    "learning_rate": "learner.learning_rate",
    "discount": "learner.discount",
    "hidden": "learner.hidden",
    "activation": "learner.activation",
    "target_period": "learner.target_period",
    "search_states": "search_control.states",
    "frequency_network": "search_control.network",
    "gradient_weight": "search_control.gradient_weight",
    "hessian_weight": "search_control.hessian_weight",
    "climb_boundary": "search_control.boundary",
    "climb_keep_terminal": "search_control.keep_terminal",
    "climb_noise_scales": "search_control.noise_scales",
    "climb_preconditioner": "search_control.preconditioner",
    "climb_step_size": "search_control.step_size",
    "model_termination": "model.termination",
    "reward_noise": "env.reward_noise",
    "goal_reward": "env.goal_reward",
    "walls_in_state_space": "env.walls_in_state_space",
    "collision": "env.collision",
    "episode_limit": "env.episode_limit",
    "queue_size": "planning.queue_size",
}
"""What the parts call settings, because these words are in the names of their trainings."""

EVERYWHERE: Settings = {
    "algorithm": "er",
    "env": "MountainCar-v0",
    "seeds": 30,
    "first_seed": 0,
    "steps": 50_000,
    "batch_size": 32,
    "learner.learning_rate": 1e-3,
    "learner.discount": 0.99,
    "learner.activation": "tanh",
    "learner.target_period": 1000,
    "learner.target_rate": 0.005,
    "learner.double": False,
    "learner.loss": "squared",
    "learner.max_gradient_norm": None,
    "exploration": 0.1,
    "exploration_initial": 1.0,
    "exploration_fraction": 0.0,
    "warmup_steps": 5000,
    "learn_in_warmup": False,
    "replay.capacity": 100_000,
    "replay.exponent": 0.6,
    "search_control.states": 20,
    "search_control.candidates": 200,
    "planning.simulated_share": 0.5,
    "planning.queue_size": 100_000,
    "planning.exploration": 0.1,
    "planning.rollout_length": 1,
    "model.learning_rate": 1e-4,
    "model.hidden": (64, 64),
    "planning.model_updates": 1,
    "model.size": 5,
    "model.outcome": "mean",
    "search_control.probability": 0.5,
    "search_control.network": "online",
    "search_control.gradient_weight": 1.0,
    "search_control.hessian_weight": 1.0,
    "search_control.step_size": 0.01,
    "search_control.noise": 0.01,
    "search_control.noise_scales": "variance",
    "search_control.preconditioner": "covariance",
    "search_control.boundary": "restart",
    "search_control.keep_terminal": False,
    "search_control.noise_on_start": False,
    "search_control.restart_when_stuck": False,
    "search_control.restart_rule": "new",
    "search_control.vanishing": "sum",
    "search_control.limit": 200,
    "search_control.iterations": 10,
    "search_control.persistent": False,
    "env.reward_noise": 0.0,
    "env.move_noise": 0.01,
    "env.walls_in_state_space": False,
    "env.collision": "segment",
    "scale_observations": False,
    "eval_every": 500,
    "eval_episodes": 1,
    "snapshot_steps": (),
    "devices": None,
}
"""What is the same in all environments, unless a training states another value."""

_DISCRETE: Settings = {
    "planning_steps": 10,
    "learner.hidden": (32, 32),
    "model": "true",
    "model.termination": "known",
    "env.episode_limit": 2000,
    "eval_exploration": 0.05,
}
_CONTINUOUS: Settings = {
    "planning_steps": 5,
    "learner.hidden": (64, 64),
    "model": "learned",
    "model.termination": "learned",
    "env.episode_limit": 1000,
    "eval_exploration": 0.0,
}
BY_ENVIRONMENT: dict[str, Settings] = {
    "MountainCar-v0": {**_DISCRETE, "learn_in_warmup": True, "env.goal_reward": -1.0},
    "GridWorld": {**_DISCRETE, "env.goal_reward": 0.0},
    "MazeGridWorld": {
        **_DISCRETE,
        "planning_steps": 30,
        "env.goal_reward": 0.0,
        "learner.hidden": (64, 64),
        "search_control.states": 50,
    },
    "DynaMaze": {**_DISCRETE, "learner.learning_rate": 0.1, "env.goal_reward": 1.0},
    "Hopper-v5": _CONTINUOUS,
    "Walker2d-v5": _CONTINUOUS,
}

_PUBLISHED: Settings = {
    # In what the published code differs from the tables above.
    "learn_in_warmup": False,  # no update before 5,000 samples
    "search_control.noise_scales": "deviation",
    "search_control.boundary": "project",  # it clips states to their bounds
    "search_control.noise": 0.05,  # in its configuration file
    "search_control.noise_on_start": True,
    "search_control.restart_when_stuck": True,  # a step shorter than 1e-5
    "search_control.restart_rule": "previous",
    "search_control.vanishing": "each_term",
    "search_control.network": "target",  # for g; V is computed with the online network
    "planning.queue_size": 1_000_000,
    "replay.exponent": 1.0,  # in its configuration file, for an algorithm that is missing
}
_PUBLISHED_BY_ENVIRONMENT: dict[str, Settings] = {
    "MountainCar-v0": {"env.goal_reward": 1.0},
    "MazeGridWorld": {
        "env.goal_reward": 0.0,
        "env.walls_in_state_space": True,  # climbs are bounded by the square alone
        "env.collision": "end_point",
        "search_control.preconditioner": "identity",
        "search_control.keep_terminal": True,
    },
}
_PUBLISHED_BY_ALGORITHM: dict[str, Settings] = {
    "dyna-value": {"learner.activation": "relu", "search_control.step_size": 0.1},
    "dyna-frequency": {},
}
PUBLISHED = "published"
"""With the setting `preset` of this value, a training has those of the published code."""


def complete(stated: Settings) -> Config:
    """The configuration of a training, with every setting, from what it states."""
    own = {SHORT.get(name, name): value for name, value in stated.items() if name != "preset"}
    env, algorithm = own["env"], own["algorithm"]
    table = EVERYWHERE | BY_ENVIRONMENT.get(env, {})
    if stated.get("preset") == PUBLISHED:
        table |= _PUBLISHED | _PUBLISHED_BY_ENVIRONMENT[env] | _PUBLISHED_BY_ALGORITHM[algorithm]
    names = ("env", "algorithm", "search_control", "model")
    named = Config.of({name: (table | own)[name] for name in names if name in table | own})
    used = {name: value for name, value in table.items() if has_setting(named, name)}
    return completed(Config.of(used | own))
