"""What S trains: both Dyna algorithms under each interpretation of the paper."""

from typing import Any

from reproduction.base import Stored, Unit
from reproduction.parts.open_choices import activations
from reproduction.readings import WALLS
from reproduction.stored_trainings import pick
from reproduction.trainings import training

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "MountainCar-v0": {"planning_steps": 10, "reward_noise": 0.0},  # a cell of F3
    "MazeGridWorld": {},  # F4
}
ALGORITHMS = ("dyna-frequency", "dyna-value")
RELU_FOR_VALUE = "ReLU for Dyna-Value alone"
"""As in the published configuration; the paper says that all networks have tanh units."""
READINGS: dict[str, dict[str, dict[str, Any]]] = {
    # For each interpretation, the settings that it changes on MountainCar and in the maze. By the
    # preset, updates start with the first step on MountainCar and after the warm-up in the maze.
    "none changed": {env: {} for env in ENVIRONMENTS},
    "η scales the deviation": {env: {"climb_noise_scales": "deviation"} for env in ENVIRONMENTS},
    "identity instead of Σ": {env: {"climb_preconditioner": "identity"} for env in ENVIRONMENTS},
    "projection at the edge": {env: {"climb_boundary": "project"} for env in ENVIRONMENTS},
    "g of the target network": {env: {"frequency_network": "target"} for env in ENVIRONMENTS},
    "queue of 10⁶": {env: {"queue_size": 1_000_000} for env in ENVIRONMENTS},
    "terminal states kept": {env: {"climb_keep_terminal": True} for env in ENVIRONMENTS},
    "other goal reward": {
        "MountainCar-v0": {"goal_reward": 1.0},
        "MazeGridWorld": {"goal_reward": -1.0},
    },
    "updates after the warm-up": {"MountainCar-v0": {"learn_in_warmup": False}},
    "walls in the state space": {"MazeGridWorld": WALLS["walls inside"]},
    "ReLU for both": {"MountainCar-v0": {"activation": "relu"}},
    RELU_FOR_VALUE: {"MountainCar-v0": {"activation": "relu"}},
    "observations scaled to [−1, 1]": {"MountainCar-v0": {"scale_observations": True}},
    "all as in the published code": {env: {"preset": "published"} for env in ENVIRONMENTS},
}


def settings(reading: str, env: str, algorithm: str) -> dict[str, Any]:
    """One training; some interpretations change only one of the algorithms."""
    changed = dict(READINGS[reading][env])
    if algorithm == "dyna-value":
        changed.pop("frequency_network", None)
    elif reading == RELU_FOR_VALUE:
        changed.pop("activation")
    return {"env": env, "algorithm": algorithm} | ENVIRONMENTS[env] | changed


def units(quick: bool) -> list[Unit]:
    """All distinct trainings, the longest first; a quick run has two interpretations."""
    readings = list(READINGS)[:2] if quick else list(READINGS)
    environments = list(ENVIRONMENTS)[:1] if quick else list(reversed(ENVIRONMENTS))
    wanted = [
        training(quick, **settings(reading, env, algorithm))
        for env in environments
        for reading in readings
        if env in READINGS[reading]
        for algorithm in ALGORITHMS
    ]
    wanted += [] if quick else activations.units()
    return list({unit.name: unit for unit in wanted}.values())


def by_reading(units: dict[str, Stored]) -> dict[tuple[str, str, str], Stored]:
    """The stored training of each interpretation, environment and algorithm."""
    keys = [(r, env, a) for r in READINGS for env in READINGS[r] for a in ALGORITHMS]
    found = {key: pick(units, **settings(*key)) for key in keys}
    return {key: stored for key, stored in found.items() if stored is not None}
