"""Search-controls by name: the built-in ones, and those that users register."""

from collections.abc import Callable
from typing import Any, TypeVar

from freqdyna.config import Config
from freqdyna.core.code_names import module_of, named_class
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.user_code import created
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
    if module_of(name) is None:
        raise unknown_name("search-control", name, SEARCH_CONTROLS)
    base: Any = SearchControl  # it is abstract, which mypy does not accept for a type
    return named_class("search_control", name, base, "freqdyna.SearchControl", allow_code)


def full_name(strategy: type[SearchControl]) -> str:
    """The name of a built-in class, or `module:Class`; another process can find the class by it."""
    for name, known in SEARCH_CONTROLS.items():
        if known is strategy and strategy.__module__.startswith("freqdyna."):
            return name
    return f"{strategy.__module__}:{strategy.__qualname__}"


def make(strategy: type[SearchControl], config: Config) -> SearchControl:
    """Create a strategy with the settings of a run."""
    told = f"search_control is {full_name(strategy)!r}"
    made: SearchControl = created(strategy, SearchControl, told, config)
    return made


def summary(strategy: type) -> str:
    """The first line of the class's docstring, which `freqdyna list` prints."""
    return (strategy.__doc__ or "").partition("\n")[0].rstrip(".")
