"""Components by name: the built-in ones, registered ones, and `module:Class` of the user's code.

A run folder, a sweep or a configuration file may come from somebody else. Finding a component by
its name therefore never imports a module. The user is asked once, where such a file is read; if
code is allowed, or if the name was typed, `import_code` imports the module. A name whose module is
not imported by then is refused.
"""

import dataclasses
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from freqdyna.core.errors import FreqdynaError, note_where, unknown_name

Component = TypeVar("Component")
Kind = TypeVar("Kind", bound=type)

_ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")
"""A memory address in the `repr` of a function or object, which differs between processes."""


def module_of(name: str | None) -> str | None:
    """The module of a name such as `module:Class`; None if the name needs none."""
    module, colon, _ = (name or "").rpartition(":")
    return module if colon else None


def import_code(**names: Any) -> None:
    """Import the modules of names that the user typed or allowed; what is no name is ignored."""
    for setting, name in names.items():
        module = module_of(name) if isinstance(name, str) else None
        if module is None:
            continue
        try:
            with note_where(f"freqdyna imported {module!r} because {setting} is {name!r}"):
                import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):
                raise
            text = f"{setting} is {name!r}, but there is no module {module!r}"
            raise FreqdynaError(text) from None


def require_allowed(setting: str, name: str | None) -> None:
    """Raise an error if a name such as `module:Class` needs a module that nobody has imported."""
    module = module_of(name)
    if module is not None and module not in sys.modules:
        raise FreqdynaError(
            f"{setting} is {name!r}, which would import the module {module!r}; if you trust it, "
            "allow that with --allow-code (in Python: load it with allow_code=True)"
        )


class Registry(dict[str, type[Component]]):
    """The classes of one kind of component, such as models, by name."""

    def __init__(self, setting: str, base: Any) -> None:
        """Begin without names, for subclasses of `base` that a setting such as "model" names."""
        super().__init__()
        self.setting, self.base = setting, base

    def register(self, name: str) -> Callable[[Kind], Kind]:
        """A class decorator that registers a component.

        Args:
            name: The name for settings and options; it must not be taken.

        Returns:
            The decorator, which returns the class unchanged.

        """
        if name in self:
            raise FreqdynaError(f"{self.setting} {name!r} is registered; choose another name")

        def add(kind: Kind) -> Kind:
            self[name] = kind
            return kind

        return add

    def find(self, name: str) -> type[Component]:
        """The class of a registered name, or of `module:Class` if the module is imported."""
        if name in self:
            return self[name]
        module = module_of(name)
        if module is None:
            raise unknown_name(self.setting, name, self)
        require_allowed(self.setting, name)
        attribute = name.rpartition(":")[2]
        classes = {
            key: value
            for key, value in vars(sys.modules[module]).items()
            if isinstance(value, type) and issubclass(value, self.base)
        }
        if attribute not in classes:
            base = f"{self.base.__module__}.{self.base.__name__}"
            others = ", ".join(key for key, value in classes.items() if value.__module__ == module)
            raise FreqdynaError(
                f"{self.setting} is {name!r}; it must be a subclass of {base}, and those in "
                f"{module!r} are: {others or 'none'}"
            )
        return classes[attribute]

    def full_name(self, kind: type[Component]) -> str:
        """The name of a built-in class, or `module:Class`, by which another process finds it."""
        for name, known in self.items():
            if known is kind and kind.__module__.startswith("freqdyna."):
                return name
        return f"{kind.__module__}:{kind.__qualname__}"

    @staticmethod
    def summary(kind: type[Component]) -> str:
        """The first line of the class's docstring, which `freqdyna list` prints."""
        return (kind.__doc__ or "").partition("\n")[0].rstrip(".")


def require_shapes(what: str, returned: Any, wanted: Any) -> None:
    """Raise an error unless a returned value has the structure, types and shapes that are wanted.

    The message begins with `what`, such as "Mine.propose returned states".
    """
    import jax

    def form(leaf: Any) -> str:
        has_shape = isinstance(leaf, jax.Array)
        return f"{leaf.dtype}{list(leaf.shape)}" if has_shape else type(leaf).__name__

    ours, allowed = (str(jax.tree.map(form, one)).replace("'", "") for one in (returned, wanted))
    if ours != allowed:
        raise FreqdynaError(f"{what} {ours}; it must be {allowed}")


def describe(value: Any) -> str:
    """The class of a dataclass instance, the value of every field, and a checksum of its arrays."""
    import equinox as eqx  # not needed to parse a command line
    import jax
    import numpy as np

    fields = [(field.name, repr(getattr(value, field.name))) for field in dataclasses.fields(value)]
    values = [f"{name}={_ADDRESS.sub('', text)}" for name, text in fields]
    # The `repr` of an array in an equinox module has its shape only.
    for leaf in jax.tree.leaves(eqx.filter(value, eqx.is_array)):
        values.append(f"crc32={zlib.crc32(np.asarray(leaf).tobytes()):08x}")
    return f"{type(value).__name__}({', '.join(values)})"


@contextmanager
def current_folder_on_path(wanted: bool) -> Iterator[None]:
    """Let Python import from the current folder, last, while a command runs, if `wanted`.

    Without code that the user typed or allowed it does not: the folder may be somebody else's.
    """
    added = [""] if wanted and "" not in sys.path else []
    sys.path += added
    try:
        yield
    finally:
        if added:
            sys.path.remove("")
