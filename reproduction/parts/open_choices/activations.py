"""The part of S about the network: unequal activations in F3, and why ER gets stuck.

The paper says that all networks have tanh units; its published configuration has ReLU for DQN and
Dyna-Value, and tanh for Dyna-Frequency alone.
"""

from typing import Any

import numpy as np

from reproduction.base import Stored, Unit
from reproduction.comparisons import Comparison, mean_with_interval
from reproduction.readings import WHEN_UPDATES_BEGIN
from reproduction.stored_trainings import area, pick, seeds_of, steps_to
from reproduction.trainings import training

NETWORKS: dict[str, dict[str, Any]] = {
    "tanh": {},
    "ReLU": {"activation": "relu"},
    "tanh, scaled observations": {"scale_observations": True},
}
RIVALS = {"Dyna-Value": "dyna-value", "PrioritizedER": "prioritized-er", "ER": "er"}
NOISES = (0.0, 0.1)
STUCK = -1000.0
"""A seed is stuck if its evaluation return never rises above this."""
NOTE = (
    "With ReLU units the Hessian of V is zero almost everywhere, so that climbs of g have no "
    "direction; 'ReLU for both' is listed for completeness. A seed is stuck if no evaluation is "
    "above −1000."
)


def settings(algorithm: str, network: str, reading: str, noise: float) -> dict[str, Any]:
    """One training on MountainCar with 10 updates, a cell of F3 with another network."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "reward_noise": noise}
    return cell | {"algorithm": algorithm} | NETWORKS[network] | WHEN_UPDATES_BEGIN[reading]


def units() -> list[Unit]:
    """All rivals with ReLU, and ER with every network, under both interpretations."""
    wanted = [
        *((algorithm, "ReLU", noise) for algorithm in RIVALS.values() for noise in NOISES),
        *(("er", network, 0.0) for network in NETWORKS),
    ]
    trainings = [
        training(False, **settings(algorithm, network, reading, noise))
        for reading in WHEN_UPDATES_BEGIN
        for algorithm, network, noise in wanted
    ]
    frequency = [
        training(False, **settings("dyna-frequency", "tanh", reading, noise))
        for reading in WHEN_UPDATES_BEGIN
        for noise in NOISES
    ]
    return [*trainings, *frequency]


Found = dict[tuple[str, str, str, float], Stored]
"""The trainings by algorithm, network, interpretation and noise."""


def find(units: dict[str, Stored]) -> Found:
    """The stored trainings; none if they are not all stored."""
    found = {
        (algorithm, network, reading, noise): stored
        for algorithm in ("dyna-frequency", *RIVALS.values())
        for network in NETWORKS
        for reading in WHEN_UPDATES_BEGIN
        for noise in NOISES
        if (stored := pick(units, **settings(algorithm, network, reading, noise))) is not None
    }
    return found if ("er", "ReLU", next(iter(WHEN_UPDATES_BEGIN)), 0.0) in found else {}


def comparisons(found: Found) -> dict[str, list[Comparison]]:
    """By interpretation: F3 with the published activations, and ER with other networks."""
    if not found:
        return {}
    return {r: [*_leads(found, r), *_of_er(found, r)] for r in WHEN_UPDATES_BEGIN}


def table(found: Found) -> list[list[str]]:
    """How many seeds of ER are stuck with which network, the header first; empty if none."""
    if not found:
        return []
    rows = [["ER on MountainCar, d = 10, σ = 0", "updates", "area", "stuck seeds"]]
    for network in NETWORKS:
        for reading in WHEN_UPDATES_BEGIN:
            stored = found["er", network, reading, 0.0]
            stuck = int(np.isinf(steps_to(stored, STUCK)).sum())
            of_all = f"{stuck} of {len(seeds_of(stored))}"
            rows.append([network, reading, mean_with_interval(area(stored)), of_all])
    return rows


def _leads(found: Found, reading: str) -> list[Comparison]:
    return [
        Comparison.of(
            f"Dyna-Frequency (tanh) − {name} (ReLU), MountainCar, area, d = 10, σ = {noise:g}",
            "-",
            area,
            found["dyna-frequency", "tanh", reading, noise],
            found[rival, "ReLU", reading, noise],
        )
        for name, rival in RIVALS.items()
        for noise in NOISES
    ]


def _of_er(found: Found, reading: str) -> list[Comparison]:
    """Whether another network keeps ER from getting stuck."""
    return [
        Comparison.of(
            f"ER, seeds that are not stuck: {network} − tanh, percentage points",
            "-",
            lambda stored: 100.0 * np.isfinite(steps_to(stored, STUCK)),
            found["er", network, reading, 0.0],
            found["er", "tanh", reading, 0.0],
        )
        for network in list(NETWORKS)[1:]
    ]
