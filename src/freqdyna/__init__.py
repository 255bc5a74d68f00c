"""freqdyna: search-control in Dyna, on JAX, for many seeds at once.

Public names are loaded on first use, so that importing the package is fast.
"""

from typing import TYPE_CHECKING, Any

from freqdyna.core.gymnasium_ids import register_with_gymnasium
from freqdyna.core.moved import MovedModules

if TYPE_CHECKING:
    from freqdyna import envs
    from freqdyna.config import Config
    from freqdyna.core.errors import FreqdynaError
    from freqdyna.frequency import local_frequency
    from freqdyna.results.result import Result, load
    from freqdyna.search_control import SearchControl
    from freqdyna.sweeps.compare import compare
    from freqdyna.sweeps.load import load_sweep
    from freqdyna.training.api import resume, train
    from freqdyna.training.training import Training

__all__ = [
    "Config",
    "FreqdynaError",
    "Result",
    "SearchControl",
    "Training",
    "compare",
    "envs",
    "load",
    "load_sweep",
    "local_frequency",
    "resume",
    "train",
]

_MODULES = {
    "Config": "freqdyna.config",
    "FreqdynaError": "freqdyna.core.errors",
    "Result": "freqdyna.results.result",
    "SearchControl": "freqdyna.search_control",
    "Training": "freqdyna.training",
    "compare": "freqdyna.sweeps.compare",
    "local_frequency": "freqdyna.frequency",
    "load": "freqdyna.results.result",
    "load_sweep": "freqdyna.sweeps.load",
    "resume": "freqdyna.training.api",
    "train": "freqdyna.training.api",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "__version__":
        return importlib.import_module("freqdyna.config").VERSION
    if name == "envs":
        return importlib.import_module("freqdyna.envs")
    if name == "local_frequency_gradient":  # public in version 0.1
        import warnings

        warnings.warn(
            f"freqdyna.{name} is now freqdyna.frequency.{name}; the old name will be removed in "
            "version 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module("freqdyna.frequency"), name)
    if name not in _MODULES:
        raise AttributeError(f"module 'freqdyna' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__


_MOVED = {
    # What version 0.1 called these modules.
    "freqdyna.agent": "freqdyna.agents.base",
    "freqdyna.algorithms": "freqdyna.agents.algorithms",
    "freqdyna.dyna": "freqdyna.agents.dyna.dyna",
    "freqdyna.errors": "freqdyna.core.errors",
    "freqdyna.evaluation": "freqdyna.envs.episodes",
    "freqdyna.engines": "freqdyna.training.engines",
    "freqdyna.engines.base": "freqdyna.training.engines.base",
    "freqdyna.engines.local": "freqdyna.training.engines.local",
    "freqdyna.engines.ray": "freqdyna.training.engines.ray",
    "freqdyna.envs.host": "freqdyna.envs.gym.seats",
    "freqdyna.envs.host_space": "freqdyna.envs.gym.space",
    "freqdyna.frequency.network": "freqdyna.agents.networks.state_value",
    "freqdyna.learners": "freqdyna.agents.learners",
    "freqdyna.learners.base": "freqdyna.agents.learners.base",
    "freqdyna.learners.dqn": "freqdyna.agents.learners.dqn",
    "freqdyna.learners.naf": "freqdyna.agents.learners.naf",
    "freqdyna.learners.network": "freqdyna.agents.networks.mlp",
    "freqdyna.models": "freqdyna.agents.models",
    "freqdyna.models.base": "freqdyna.agents.models.base",
    "freqdyna.models.learned_model": "freqdyna.agents.models.learned_model",
    "freqdyna.models.true_model": "freqdyna.agents.models.true_model",
    "freqdyna.replay": "freqdyna.agents.replay",
    "freqdyna.replay.base": "freqdyna.agents.replay.base",
    "freqdyna.replay.prioritized": "freqdyna.agents.replay.prioritized",
    "freqdyna.replay.ring": "freqdyna.agents.replay.ring",
    "freqdyna.replay.sum_tree": "freqdyna.agents.replay.sum_tree",
    "freqdyna.replay.transition": "freqdyna.envs.transition",
    "freqdyna.policies": "freqdyna.results.policy",
    "freqdyna.playback": "freqdyna.results.playback",
    "freqdyna.runs": "freqdyna.training.api",
    "freqdyna.search_control.gradient_norm": "freqdyna.search_control.frequency",
    "freqdyna.search_control.hessian_norm": "freqdyna.search_control.frequency",
    "freqdyna.search_control.value_plus_frequency": "freqdyna.search_control.combined",
    "freqdyna.search_control.value_times_frequency": "freqdyna.search_control.combined",
    "freqdyna.snapshot": "freqdyna.agents.snapshot",
    "freqdyna.sweeps.results": "freqdyna.sweeps.load",
}
MovedModules(_MOVED).install()
register_with_gymnasium()
