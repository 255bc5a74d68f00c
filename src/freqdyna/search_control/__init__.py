"""Search-control: which states to plan from. The strategies, by name."""

from collections.abc import Callable
from importlib import import_module

from freqdyna.config import Config
from freqdyna.errors import FreqdynaError, unknown_name
from freqdyna.search_control.base import Proposal, Search, SearchControl
from freqdyna.search_control.frequency import FrequencySearch
from freqdyna.search_control.gradient_norm import gradient_norm_search
from freqdyna.search_control.hessian_norm import hessian_norm_search
from freqdyna.search_control.hill_climb import HillClimb
from freqdyna.search_control.replay import ReplaySearch
from freqdyna.search_control.uniform import UniformSearch
from freqdyna.search_control.value import ValueSearch
from freqdyna.search_control.value_plus_frequency import ValuePlusFrequencySearch
from freqdyna.search_control.value_times_frequency import ValueTimesFrequencySearch

Maker = Callable[[Config], SearchControl]

SEARCH_CONTROLS: dict[str, Maker] = {
    "value": ValueSearch.from_config,
    "frequency": FrequencySearch.from_config,
    "gradient-norm": gradient_norm_search,
    "hessian-norm": hessian_norm_search,
    "value-plus-frequency": ValuePlusFrequencySearch.from_config,
    "value-times-frequency": ValueTimesFrequencySearch.from_config,
    "replay": ReplaySearch.from_config,
    "uniform": UniformSearch.from_config,
}

__all__ = [
    "SEARCH_CONTROLS",
    "HillClimb",
    "Proposal",
    "Search",
    "SearchControl",
    "find",
    "register",
]


def register(name: str, make: Maker) -> None:
    """Make a search-control of one's own known by `name`; `make` gets the configuration."""
    if name in SEARCH_CONTROLS:
        raise FreqdynaError(f"name is {name!r}, which is taken; choose another")
    SEARCH_CONTROLS[name] = make


def find(name: str) -> Maker:
    """The search-control called `name`; `module:name` imports the module first."""
    if name not in SEARCH_CONTROLS and ":" in name:
        module, name = name.split(":", 1)
        try:
            import_module(module)
        except ImportError as error:
            raise FreqdynaError(f"search_control names a module that fails: {error}") from None
    if name not in SEARCH_CONTROLS:
        raise unknown_name("search-control", name, SEARCH_CONTROLS)
    return SEARCH_CONTROLS[name]
