"""The ids of our environments in Gymnasium, registered as soon as Gymnasium is imported.

Gymnasium takes most of the time of importing this package, and most programs do not need it.
"""

import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_ONLY_OURS = {
    **dict.fromkeys(("GridWorld", "MazeGridWorld", "DynaMaze"), 2000),
    "PuddleWorld": 200,
    **{f"TubeGridWorld-{n}": 2000 for n in (2, 3, 4, 6, 8)},
}
GYMNASIUMS_LIMITS = {
    "MountainCar-v0": 200,
    "CartPole-v1": 500,
    "Acrobot-v1": 500,
    "Pendulum-v1": 200,
}
"""After how many steps Gymnasium truncates episodes of the environments that are built in, too."""
EPISODE_LIMITS = {**GYMNASIUMS_LIMITS, "MountainCar-v0": 2000, **_ONLY_OURS}
"""After how many steps episodes of the built-in environments are truncated by default."""


def register_with_gymnasium() -> None:
    """Register the ids now if Gymnasium is imported, otherwise when it is."""
    if sys.modules.get("gymnasium") is None:  # also if it is made unavailable there
        sys.meta_path.insert(0, _ImportOfGymnasium())
    else:
        _register_ids()


def _register_ids() -> None:
    from gymnasium.envs.registration import register

    for name, limit in _ONLY_OURS.items():
        register(
            id=f"freqdyna/{name}-v0",
            entry_point="freqdyna.envs.gymnasium_env:GymnasiumEnv",
            kwargs={"name": name},
            max_episode_steps=limit,
        )


class _ImportOfGymnasium(importlib.abc.MetaPathFinder):
    """Finds Gymnasium as Python would, and registers the ids after its import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:  # it is not installed
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            _register_ids()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
