"""Presets: named tables of settings. Settings given explicitly take precedence over a preset.

Without a preset a run has the defaults of the library, which are declared in `Config` and in the
environments. A preset takes precedence over both; settings that it does not name keep their
defaults.

paper       the settings that the paper states, taken literally
published   what the code published by its authors does, as far as settings can express it
tuned       for some environments, settings that were tried there; see tuned.py

docs/published-code.md compares the published code with `published` point by point, and lists what
settings cannot express.

From the first release on, an entry will not change: a better interpretation of the paper is a new
preset.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from freqdyna.config.tuned import TUNED, Tables
from freqdyna.core.errors import FreqdynaError, shown, unknown_name

EVERYWHERE = "everywhere"
"""Stands for all environments in tables of settings."""


@dataclass(frozen=True)
class Preset:
    """A named table of settings."""

    summary: str
    tables: Tables
    """Settings by the name of an environment, or EVERYWHERE. Without a table for EVERYWHERE, other
    environments are refused."""
    by_algorithm: Tables = field(default_factory=dict)
    """Settings by the name of an algorithm, which take precedence over `tables`."""


PAPER: Tables = {
    # Section numbers are those of the appendix unless another is named.
    EVERYWHERE: {
        "batch_size": 32,  # A.6: b = 32
        "buffer_size": 100_000,  # A.6: "buffer size 100k"
        "queue_size": 100_000,  # A.6: the same sentence, applied to both buffers
        "learning_rate": 1e-3,  # A.6, MountainCar; the maze "the same"
        "activation": "tanh",  # A.6: "all activation functions are tanh"
        "target_period": 1000,  # A.6: "target network moving rate 1000"
        "exploration": 0.1,  # A.6: "without decaying"
        "exploration_fraction": 0.0,  # the same words
        "warmup_steps": 5000,  # A.6: "random action is taken in the first 5k time steps"
        "learn_in_warmup": True,  # A.7: the loop updates at every step
        "simulated_share": 0.5,  # A.6: β
        "frequency_probability": 0.5,  # A.6: p, "across all experiments"
        "gradient_weight": 1.0,  # section 4: g(s) = ‖∇V‖² + ‖H‖²
        "hessian_weight": 1.0,
        "climb_step_size": 0.01,  # A.7: α, "across all experiments"
        "climb_noise": 0.01,  # A.7: η
        "climb_noise_scales": "variance",  # A.7: N(0, ηΣ)
        "climb_preconditioner": "covariance",  # A.7: the empirical covariance
        "climb_boundary": "restart",  # A.7: "we omitted the projection step"; A.6 contradicts it
        "frequency_network": "online",  # A.7: V is the Q network's
        "model_learning_rate": 1e-4,  # A.6
        "scale_observations": False,  # the paper mentions no scaling
    },
    "MountainCar-v0": {
        "seeds": 30,  # figure 3
        "planning_steps": 10,  # figure 3 (a, b); (c, d) have 30
        "hidden": (32, 32),  # A.6
        "search_states": 20,  # A.6: m
        "goal_reward": -1.0,  # section 5.1: "the reward is -1 per time step"
    },
    "GridWorld": {
        "seeds": 30,  # figure 6
        "planning_steps": 10,
    },
    "MazeGridWorld": {
        "seeds": 30,  # figure 4
        "steps": 50_000,  # figure 5
        "planning_steps": 30,  # A.6
        "hidden": (64, 64),
        "search_states": 50,
        "goal_reward": -1.0,  # section 5.2: "a reward of -1 at each time step"
        "walls_in_state_space": True,  # section 5.2: the state space is [0, 1]²
    },
    # Figure 7, for which the paper uses version 2.
    "Hopper-v5": {"seeds": 10, "planning_steps": 5},
    "Walker2d-v5": {"seeds": 10, "planning_steps": 5},
}

# All entries: the published code.
_PUBLISHED_EVALUATION: dict[str, Any] = {
    "discount": 0.99,
    "steps": 50_000,
    "warmup_steps": 5000,
    "learn_in_warmup": False,  # no update before 5,000 samples
    "episode_limit": 2000,
    "eval_every": 500,
    "eval_episodes": 1,
    "eval_exploration": 0.05,
}
_PUBLISHED_MAZE: dict[str, Any] = {
    **_PUBLISHED_EVALUATION,
    "goal_reward": 0.0,
    "walls_in_state_space": True,  # climbs are bounded by the square alone
    "collision": "end_point",
    "climb_preconditioner": "identity",
    "climb_keep_terminal": True,
}
PUBLISHED: Tables = {
    EVERYWHERE: {
        "planning_exploration": 0.1,
        "climb_noise_scales": "deviation",
        "climb_boundary": "project",  # it clips states to their bounds
        "climb_limit": 200,
        "climb_noise": 0.05,  # in its configuration file
        "climb_noise_on_start": True,
        "climb_restart_when_stuck": True,  # a step shorter than 1e-5
        "climb_restart_rule": "previous",
        "climb_vanishing": "each_term",
        "frequency_network": "target",  # for g; V is computed with the online network
        "queue_size": 1_000_000,
        "priority_exponent": 1.0,  # in its configuration file, for an algorithm that is missing
        "scale_observations": False,
    },
    "MountainCar-v0": {
        **_PUBLISHED_EVALUATION,
        "goal_reward": 1.0,
        "climb_preconditioner": "covariance",
        "climb_keep_terminal": False,
    },
    "GridWorld": _PUBLISHED_MAZE,
    "MazeGridWorld": _PUBLISHED_MAZE,
}
PUBLISHED_BY_ALGORITHM: Tables = {
    # In its configuration file, which chooses tanh for Dyna-Frequency alone.
    "er": {"activation": "relu"},
    "prioritized-er": {"activation": "relu"},
    "dyna-value": {"activation": "relu", "climb_step_size": 0.1},
    "dyna-frequency": {"activation": "tanh", "climb_step_size": 0.01},
}

PRESETS: dict[str, Preset] = {
    "paper": Preset("the settings that the paper states, taken literally", PAPER),
    "published": Preset(
        "what the paper's published code does, as far as settings can express it",
        PUBLISHED,
        PUBLISHED_BY_ALGORITHM,
    ),
    "tuned": Preset(f"settings tried on each of {', '.join(TUNED)}, and only for these", TUNED),
}


def preset_settings(name: str, env: object, algorithm: object) -> dict[str, Any]:
    """The settings of a preset for an environment and an algorithm.

    Raises:
        FreqdynaError: If there is no such preset, or if it is not for this environment.

    """
    if not isinstance(name, str) or name not in PRESETS:
        raise unknown_name("preset", str(name), PRESETS)
    preset = PRESETS[name]
    if not preset.tables.keys() & {EVERYWHERE, env if isinstance(env, str) else None}:
        raise FreqdynaError(
            f"env is {shown(env)}, for which preset {name!r} has no settings; it has them for "
            + ", ".join(preset.tables)
        )
    return {
        **_of_name(preset.tables, EVERYWHERE),
        **_of_name(preset.tables, env),
        **_of_name(preset.by_algorithm, algorithm),
    }


def _of_name(tables: Tables, name: object) -> Mapping[str, Any]:
    """The table of a name, which a file may have given any type; empty if there is none."""
    return tables.get(name, {}) if isinstance(name, str) else {}
