"""Search-controls by name: the built-in ones, and those that users register."""

from collections.abc import Callable
from typing import Any, TypeGuard, TypeVar

from freqdyna.config import Config
from freqdyna.core.code_names import imported_module, loaded_module, module_of
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.search_control.base import SearchControl

Strategy = TypeVar("Strategy", bound=SearchControl)

SEARCH_CONTROLS: dict[str, type[SearchControl]] = {}
"""Every search-control that is known by a name, in the order of registration."""


def register(name: str) -> Callable[[type[Strategy]], type[Strategy]]:
    """A class decorator that registers a search-control under a name.

    Args:
        name: The name for `search_control=` and `--search-control`; it must not be taken.

    Returns:
        The decorator, which returns the class unchanged.

    """
    if name in SEARCH_CONTROLS:
        raise FreqdynaError(f"name is {name!r}, which is taken; choose another")

    def add(strategy: type[Strategy]) -> type[Strategy]:
        SEARCH_CONTROLS[name] = strategy
        return strategy

    return add


def find(name: str, allow_code: bool = False) -> type[SearchControl]:
    """The class of a search-control.

    Args:
        name: A registered name, or `module:Class` to import the class from a module.
        allow_code: Whether the module may be imported; not needed if it is imported already.

    """
    if name in SEARCH_CONTROLS:
        return SEARCH_CONTROLS[name]
    module = module_of(name)
    if module is None:
        raise unknown_name("search-control", name, SEARCH_CONTROLS)
    attribute = name.rpartition(":")[2]
    loaded = getattr(loaded_module(name), "__dict__", {}).get(attribute)
    if _is_strategy(loaded):
        return loaded
    strategy = getattr(imported_module("search_control", name, allow_code), attribute, None)
    if not _is_strategy(strategy):
        raise FreqdynaError(
            f"search_control is {name!r}; {attribute!r} must be a subclass of "
            f"freqdyna.SearchControl in {module!r}"
        )
    return strategy


def _is_strategy(value: Any) -> TypeGuard[type[SearchControl]]:
    return isinstance(value, type) and issubclass(value, SearchControl)


def full_name(strategy: type[SearchControl]) -> str:
    """The name of a built-in class, or `module:Class`; another process can find the class by it."""
    for name, known in SEARCH_CONTROLS.items():
        if known is strategy and strategy.__module__.startswith("freqdyna."):
            return name
    return f"{strategy.__module__}:{strategy.__qualname__}"


def make(strategy: type[SearchControl], config: Config) -> SearchControl:
    """Create a strategy with the settings of a run."""
    try:
        return strategy.from_config(config)
    except TypeError as error:  # a user's class may lack a method or a default
        raise FreqdynaError(
            f"search_control is {full_name(strategy)!r}, which cannot be created: {error}"
        ) from error


def summary(strategy: type[SearchControl]) -> str:
    """The first line of the class's docstring, which `freqdyna list` prints."""
    return (strategy.__doc__ or "").partition("\n")[0].rstrip(".")
