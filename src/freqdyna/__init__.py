"""freqdyna: search-control in Dyna, on JAX, for many seeds at once.

Public names are loaded on first use, so that importing the package is fast.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freqdyna import envs
    from freqdyna.config import Config
    from freqdyna.core.errors import FreqdynaError
    from freqdyna.frequency import local_frequency
    from freqdyna.results.result import Result, load
    from freqdyna.search_control import Proposal, Search, SearchControl
    from freqdyna.sweeps.load import compare, load_sweep
    from freqdyna.training.api import check, resume, train
    from freqdyna.training.seeds import Training

__all__ = [
    "Config",
    "FreqdynaError",
    "Proposal",
    "Result",
    "Search",
    "SearchControl",
    "Training",
    "check",
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
    "Proposal": "freqdyna.search_control",
    "Result": "freqdyna.results.result",
    "Search": "freqdyna.search_control",
    "SearchControl": "freqdyna.search_control",
    "Training": "freqdyna.training.seeds",
    "check": "freqdyna.training.api",
    "compare": "freqdyna.sweeps.load",
    "local_frequency": "freqdyna.frequency",
    "load": "freqdyna.results.result",
    "load_sweep": "freqdyna.sweeps.load",
    "resume": "freqdyna.training.api",
    "train": "freqdyna.training.api",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("freqdyna")
    if name == "envs":
        return importlib.import_module("freqdyna.envs")
    if name not in _MODULES:
        raise AttributeError(f"module 'freqdyna' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
