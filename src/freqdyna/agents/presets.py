"""Presets: named tables of settings of components; explicit settings take precedence.

paper       the settings that the paper states
published   what the code published by its authors does, as far as settings can express it

A setting of a preset is used if the run has a component with that setting; others keep their
defaults. docs/published-code.md and docs/algorithms say what settings cannot express: the
pseudo-code sets "c ← 0 on restart", so that it counts only the states of the last climb, while all
climbs of a step count here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from freqdyna.agents import algorithms
from freqdyna.config import NAMED, Config, flattened
from freqdyna.core.errors import unknown_name
from freqdyna.envs import ENVIRONMENTS

Tables = Mapping[str, Mapping[str, Any]]
"""Settings by the name of an environment or of an algorithm."""
EVERYWHERE, BUILT_IN = "everywhere", "built-in"
"""Stand for all environments, and for the built-in ones, in tables of settings."""


@dataclass(frozen=True)
class Preset:
    """A named table of settings."""

    summary: str
    tables: Tables
    """Settings by the name of an environment, and for EVERYWHERE and BUILT_IN."""
    by_algorithm: Tables = field(default_factory=dict)
    """Settings by the name of an algorithm, which take precedence over `tables`."""


PAPERS_LEARNER: dict[str, Any] = {
    "learner.hidden": (32, 32),  # A.6
    "learner.learning_rate": 1e-3,  # A.6, MountainCar; the maze "the same"
    "learner.activation": "tanh",  # A.6: "all activation functions are tanh"
    "learner.target_period": 1000,  # A.6: "target network moving rate 1000"
    "learner.target_rate": 1.0,
    # The paper mentions none of these.
    **{"learner.layer_norm": False, "learner.loss": "squared", "learner.double": False},
    **{"learner.n_step": 1, "learner.ties": "first"},
}
"""The learner of the paper's experiments with discrete actions, except in the maze."""
_NAF: dict[str, Any] = {
    **{"learner.hidden": (64, 64), "learner.target_period": 1, "learner.target_rate": 0.005},
    "eval_exploration": 0.0,
}
_PAPER_BY_ALGORITHM: Tables = {
    **dict.fromkeys(("naf", "dyna-naf-value", "dyna-naf-frequency"), _NAF),
    "prioritized-er": {"replay.prioritized_share": 0.5},  # its reproducibility section
    "dyna-td-error": {"search_control.candidates": 200},  # not in the paper; as in stored results
}

# The paper's learned model: only the agent's model has to be learned.
_KNOWN = {"model.termination": "known", "model.state_space": "known"}

PAPER: Tables = {
    # Section numbers are those of the appendix unless another is named.
    EVERYWHERE: {
        "batch_size": 32,  # A.6: b = 32
        "replay.capacity": 100_000,  # A.6: "buffer size 100k"
        "replay.prioritized_share": 0.0,
        "planning.queue_size": 100_000,  # A.6: the same sentence, applied to both buffers
        **PAPERS_LEARNER,
        "exploration": 0.1,  # A.6: "without decaying"
        "exploration_steps": 0,  # the same words
        **{"exploration_repeats": 1, "acting_network": "online"},  # no other is mentioned
        "warmup_steps": 5000,  # A.6: "random action is taken in the first 5k time steps"
        "learn_in_warmup": True,  # A.7: the loop updates at every step
        "planning.simulated_share": 0.5,  # A.6: β
        "trust": "always",
        "search_control.probability": 0.5,  # A.6: p, "across all experiments"
        "search_control.gradient_weight": 1.0,  # section 4: g(s) = ‖∇V‖² + ‖H‖²
        "search_control.hessian_weight": 1.0,
        "search_control.step_size": 0.01,  # A.7: α, "across all experiments"
        "search_control.noise": 0.01,  # A.7: η
        "search_control.noise_scales": "variance",  # A.7: N(0, ηΣ)
        "search_control.preconditioner": "covariance",  # A.7: the empirical covariance
        # A.7: "we omitted the projection step"; A.6 contradicts it
        "search_control.boundary": "restart",
        "search_control.network": "online",  # A.7: V is the Q network's
        "model.learning_rate": 1e-4,  # A.6
        "scale_observations": False,  # the paper mentions no scaling
        # As in the published code; the paper does not say how it evaluates.
        **{"eval_every": 500, "eval_episodes": 1, "eval_exploration": 0.05},
    },
    BUILT_IN: {"model": "true"},  # figures 3 and 4: only the dashed curves learn their model
    "MountainCar-v0": {
        **_KNOWN,
        "seeds": 30,  # figure 3
        "planning_steps": 10,  # figure 3 (a, b); (c, d) have 30
        "search_control.states": 20,  # A.6: m
        "env.goal_reward": -1.0,  # section 5.1: "the reward is -1 per time step"
    },
    "GridWorld": {
        **_KNOWN,
        "seeds": 30,  # figure 6
        "planning_steps": 10,
    },
    "MazeGridWorld": {
        **_KNOWN,
        "seeds": 30,  # figure 4
        "steps": 50_000,  # figure 5
        "planning_steps": 30,  # A.6
        "learner.hidden": (64, 64),
        "search_control.states": 50,
        "env.goal_reward": -1.0,  # section 5.2: "a reward of -1 at each time step"
        "env.walls_in_state_space": True,  # section 5.2: the state space is [0, 1]²
    },
    # Figure 7, for which the paper uses version 2.
    "Hopper-v5": {"model": "learned", "seeds": 10, "planning_steps": 5},
    "Walker2d-v5": {"model": "learned", "seeds": 10, "planning_steps": 5},
}

# All entries: the published code.
_PUBLISHED_EVALUATION: dict[str, Any] = {
    **_KNOWN,
    "learner.discount": 0.99,
    "steps": 50_000,
    "warmup_steps": 5000,
    "learn_in_warmup": False,  # no update before 5,000 samples
    "env.episode_limit": 2000,
    "eval_every": 500,
    "eval_episodes": 1,
    "eval_exploration": 0.05,
}
_PUBLISHED_MAZE: dict[str, Any] = {
    **_PUBLISHED_EVALUATION,
    "env.goal_reward": 0.0,
    "env.walls_in_state_space": True,  # climbs are bounded by the square alone
    "env.collision": "end_point",
    "search_control.preconditioner": "identity",
    "search_control.keep_terminal": True,
}
PUBLISHED: Tables = {
    EVERYWHERE: {
        **PAPERS_LEARNER,
        "planning.exploration": 0.1,
        "trust": "always",
        "search_control.noise_scales": "deviation",
        "search_control.boundary": "project",  # it clips states to their bounds
        "search_control.limit": 200,
        "search_control.noise": 0.05,  # in its configuration file
        "search_control.noise_on_start": True,
        "search_control.restart_when_stuck": True,  # a step shorter than 1e-5
        "search_control.restart_rule": "previous",
        "search_control.vanishing": "each_term",
        "search_control.network": "target",  # for g; V is computed with the online network
        "planning.queue_size": 1_000_000,
        "replay.prioritized_share": 0.0,
        **{"scale_observations": False, "exploration_repeats": 1, "acting_network": "online"},
    },
    BUILT_IN: {"model": "true"},
    "MountainCar-v0": {
        **_PUBLISHED_EVALUATION,
        "env.goal_reward": 1.0,
        "search_control.preconditioner": "covariance",
        "search_control.keep_terminal": False,
    },
    "GridWorld": _PUBLISHED_MAZE,
    "MazeGridWorld": {
        **_PUBLISHED_MAZE,
        "planning_steps": 30,  # as in the paper, like the next two
        "learner.hidden": (64, 64),
        "search_control.states": 50,
    },
}
PUBLISHED_BY_ALGORITHM: Tables = {
    # In its configuration file, which chooses tanh for Dyna-Frequency alone.
    "er": {"learner.activation": "relu"},
    "prioritized-er": {
        **{"learner.activation": "relu", "replay.prioritized_share": 0.5},
        "replay.exponent": 1.0,  # the algorithm itself is missing there
    },
    "dyna-value": {"learner.activation": "relu", "search_control.step_size": 0.1},
    "dyna-frequency": {"learner.activation": "tanh", "search_control.step_size": 0.01},
}

PRESETS: dict[str, Preset] = {
    "paper": Preset("the settings that the paper states", PAPER, _PAPER_BY_ALGORITHM),
    "published": Preset(
        "what the paper's published code does, as far as settings can express it",
        PUBLISHED,
        PUBLISHED_BY_ALGORITHM,
    ),
}


def config(settings: Mapping[str, Any], preset: str | None = None, on_host: bool = False) -> Config:
    """The configuration with these settings, as in `Config.of`, and with others of a preset.

    With `on_host`, the environment is stepped in Python, whatever its name is.
    """
    chosen = Config.of(settings)
    if preset is None:
        return chosen
    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    tables = PRESETS[preset].tables
    explicit = flattened(settings)
    built_in = chosen.env in ENVIRONMENTS and not on_host
    table = {**tables[EVERYWHERE], **(tables[BUILT_IN] if built_in else {})}
    table |= tables.get(chosen.env, {})
    table |= PRESETS[preset].by_algorithm.get(chosen.algorithm, {})
    # First the names of components, because they decide which other settings a run has.
    for names in (table.keys() & set(NAMED), table.keys()):
        fitting = {k: table[k] for k in names if algorithms.has_setting(chosen, k)}
        chosen = Config.of(fitting | explicit)
    return chosen
