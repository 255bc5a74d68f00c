"""Names that import code: `module:Class` of a search-control or model, `module:Id` of an env.

A run folder, a sweep or a configuration file may come from somebody else, so a name in it is
imported only if the user allows it. What such a name is, and whether it may be imported, is decided
here and nowhere else.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, TypeGuard, TypeVar

from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.core.user_code import imported_line

Base = TypeVar("Base")


def module_of(name: str) -> str | None:
    """The module that a name such as `module:Class` imports; None if it imports nothing."""
    module, colon, _ = name.rpartition(":")
    return module if colon else None


def require_allowed(setting: str, name: str, allow_code: bool) -> None:
    """Raise an error if a name imports code and that is not allowed.

    Args:
        setting: The setting that has the name, "env", "search_control" or "model".
        name: The name, which may be a plain one.
        allow_code: Whether it may import code.

    """
    module = module_of(name)
    if module is not None and not allow_code:
        raise FreqdynaError(
            f"{setting} is {name!r}, which would import the module {module!r}; if you trust it, "
            "allow that with --allow-code (in Python: allow_code=True)"
        )


def imported_module(setting: str, name: str, allow_code: bool) -> ModuleType:
    """Import the module of a name; see `require_allowed`."""
    require_allowed(setting, name, allow_code)
    module = module_of(name)
    try:
        return import_module(module or "")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's module may fail in any way, also by sys.exit
        raise FreqdynaError(
            f"{setting} is {name!r}, but importing {module!r} fails{imported_line(error)}: "
            f"{one_line(error)}"
        ) from error


def loaded_module(name: str) -> ModuleType | None:
    """The module of a name, if this process has imported it already; nothing is imported."""
    return sys.modules.get(module_of(name) or "")


def named_class(
    setting: str, name: str, base: type[Base], base_name: str, allow_code: bool
) -> type[Base]:
    """The class that a name such as `module:Class` stands for.

    Args:
        setting: The setting that has the name, such as "model".
        name: The name, which has a colon.
        base: The class must be a subclass of this.
        base_name: Where users import it from, for messages.
        allow_code: Whether the module may be imported; not needed if it is imported already.

    """

    def fits(value: Any) -> TypeGuard[type[Base]]:
        return isinstance(value, type) and issubclass(value, base)

    attribute = name.rpartition(":")[2]
    loaded = getattr(loaded_module(name), "__dict__", {}).get(attribute)
    if fits(loaded):
        return loaded
    found = getattr(imported_module(setting, name, allow_code), attribute, None)
    if not fits(found):
        raise FreqdynaError(
            f"{setting} is {name!r}; {attribute!r} must be a subclass of {base_name} in "
            f"{module_of(name)!r}"
        )
    return found
