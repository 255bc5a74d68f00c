"""Names that import code: `module:Class` of a search-control, `module:Id` of an environment.

A run folder, a sweep or a configuration file may come from somebody else, so a name in it is
imported only if the user allows it. What such a name is, and whether it may be imported, is decided
here and nowhere else.
"""

import sys
from importlib import import_module
from types import ModuleType

from freqdyna.core.errors import FreqdynaError, one_line


def module_of(name: str) -> str | None:
    """The module that a name such as `module:Class` imports; None if it imports nothing."""
    module, colon, _ = name.rpartition(":")
    return module if colon else None


def require_allowed(setting: str, name: str, allow_code: bool) -> None:
    """Raise an error if a name imports code and that is not allowed.

    Args:
        setting: The setting that has the name, "env" or "search_control".
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
            f"{setting} is {name!r}, but importing {module!r} fails: {one_line(error)}"
        ) from error


def loaded_module(name: str) -> ModuleType | None:
    """The module of a name, if this process has imported it already; nothing is imported."""
    return sys.modules.get(module_of(name) or "")
