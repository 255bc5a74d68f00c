"""Modules that moved can still be imported by their old names, with a deprecation warning."""

import importlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class MovedModules(MetaPathFinder, Loader):
    """Finds modules under their old names."""

    def __init__(self, new_names: Mapping[str, str]) -> None:
        """Prepare the aliases; `install` activates them.

        Args:
            new_names: From the old name of each module to its new name.

        """
        self._new_names = new_names

    def install(self) -> None:
        """Make the old names importable in this process."""
        sys.meta_path.append(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import spec of an old name; None for every other name."""
        if fullname not in self._new_names:
            return None
        return ModuleSpec(fullname, self, is_package=self._is_package(fullname))

    def exec_module(self, module: ModuleType) -> None:
        """Make the old module forward every attribute to the new one."""
        new = self._new_names[module.__name__]
        warnings.warn(
            f"{module.__name__} is now {new}; the old name will be removed in version 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        target = importlib.import_module(new)
        module.__dict__["__getattr__"] = lambda name: getattr(target, name)

    def _is_package(self, name: str) -> bool:
        return any(other.startswith(f"{name}.") for other in self._new_names)
