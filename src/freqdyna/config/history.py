"""The changes of settings between versions, so that stored results remain valid after an upgrade.

If you add a setting or change a default, add it to HISTORY with the previous behaviour. Older runs
then resume with the behaviour of their version, older sweeps find their units and keep their
defaults, and stored experiments can be loaded.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from freqdyna.core.errors import FreqdynaError

VERSION = "0.2.0"
"""The version of this package."""
FIRST = "0.1.0"
"""The version of files that do not name their version."""
EVERYWHERE = "everywhere"
"""Stands for all environments in tables of settings."""
CONTINUOUS_ACTIONS, GYMNASIUM = "continuous actions", "Gymnasium's"
"""Stand for environments with continuous actions, and for Gymnasium environments."""

Tables = Mapping[str, Mapping[str, Any]]
"""Settings by the name of an environment, or by one of the names above."""


@dataclass(frozen=True)
class Changes:
    """The changes of one version, as the values before it."""

    added: Mapping[str, Any] = field(default_factory=dict)
    """Each new setting, with the value that preserves the behaviour of older versions."""
    defaults: Tables = field(default_factory=dict)
    """The previous value of each default that changed, EVERYWHERE or by environment."""


HISTORY: dict[str, Changes] = {
    "0.2.0": Changes(
        added={
            "activation": "tanh",
            "double": False,
            "loss": "squared",
            "max_gradient_norm": None,
            "exploration_initial": 1.0,
            "exploration_fraction": 0.0,
            "model_hidden": (64, 64),
            "model_updates": 1,
            "ensemble_size": 5,
            "ensemble_outcome": "mean",
            "climb_coordinates": "raw",
            "scale_observations": False,
            "rollout_length": 1,
            "walls_in_state_space": None,
            "collision": None,
            "climb_noise_on_start": False,
            "climb_restart_when_stuck": False,
            "climb_restart_rule": "new",
            "climb_vanishing": "sum",
            "search_candidates": 200,
            "mixture": ("uniform", "frequency"),
            "mixture_shares": (),
            "bandit_period": 100,
            "bandit_rate": 0.1,
            "climb_iterations": 10,
            "climb_persistent": False,
            "env_kwargs": (),
        },
        defaults={
            "MountainCar-v0": {"learn_in_warmup": True},
            # Before, it was Gymnasium's, which is no model of its own.
            "Pendulum-v1": {"model": "learned", "model_termination": "learned"},
        },
    ),
}
"""The changes by version."""


def added_after(version: str) -> dict[str, Any]:
    """The settings that `version` does not have, with the values that preserve its behaviour."""
    return _merged([changes.added for changes in _after(version)])


def added_in(version: str) -> Mapping[str, Any]:
    """The settings that `version` introduced, with the values that preserve the behaviour before.

    A run that was started while that version was developed may lack some of them.
    """
    return HISTORY.get(version, Changes()).added


def defaults_before(version: str, where: str = EVERYWHERE) -> dict[str, Any]:
    """The defaults of `version` that have changed since.

    Args:
        version: A version such as "0.1.0".
        where: The name of an environment, or one of the names that stand for several.

    Returns:
        Each of these settings with its default in that version.

    """
    return _merged([changes.defaults.get(where, {}) for changes in _after(version)])


def changed_after(version: str) -> bool:
    """Whether any setting was added, or any default changed, after `version`."""
    return bool(_after(version))


def last_changes(version: str, env: str) -> dict[str, str]:
    """The settings whose default may have changed for an environment.

    Args:
        version: Changes up to this version count.
        env: The name of the environment, which need not have been created.

    Returns:
        Each of these settings with the version of the last change.

    """
    found: dict[str, str] = {}
    for changed_in in sorted(HISTORY, key=_numbers):
        if _numbers(changed_in) <= _numbers(version):
            defaults = HISTORY[changed_in].defaults
            for where in (EVERYWHERE, CONTINUOUS_ACTIONS, GYMNASIUM, env):
                found |= dict.fromkeys(defaults.get(where, {}), changed_in)
    return found


def _after(version: str) -> list[Changes]:
    """The changes after `version`, newest first."""
    newer = [later for later in HISTORY if _numbers(later) > _numbers(version)]
    return [HISTORY[later] for later in sorted(newer, key=_numbers, reverse=True)]


def _merged(tables: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for table in tables for name, value in table.items()}


def _numbers(version: str) -> tuple[int, ...]:
    """A version as numbers for comparison; a suffix, as in 0.2.0.dev1, is ignored."""
    numbers = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    if numbers is None:
        raise FreqdynaError(f"version is {version!r}; it must be numbers, such as {VERSION}")
    parts = [int(part) for part in numbers[0].split(".")]
    return tuple(parts + [0] * (3 - len(parts)))  # 0.3 is 0.3.0
