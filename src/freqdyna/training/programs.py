"""Programs that equal trainings of one process share, because tracing one takes seconds.

A resumed run, or another block of seeds of a sweep, reuses the programs of the first training with
the same settings. Trainings are equal if everything that tracing depends on is: the structure and
the numbers of their components, and the code of their classes. A training with a class from outside
this package is traced every time, so that a change to that class takes effect.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from types import FunctionType
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh

from freqdyna.training.training import Training

MOST = 24
"""The number of programs that are kept; the least recently used one is dropped."""
_programs: OrderedDict[Hashable, Any] = OrderedDict()


def shared(training: Training, mesh: Mesh, name: str, make: Callable[[], Any]) -> Any:
    """A program of an equal training if there is one, otherwise a new one.

    Args:
        training: The training.
        mesh: The devices of the program.
        name: What the program does, such as "advance".
        make: Creates the program.

    """
    identity = _identity(training)
    if identity is None:
        return make()
    key = identity, mesh, name
    program = _programs.pop(key, None)
    _programs[key] = make() if program is None else program
    if len(_programs) > MOST:
        _programs.popitem(last=False)
    return _programs[key]


def _identity(training: Training) -> Hashable | None:
    """Equal for equal trainings; None if that cannot be known."""
    leaves, structure = jax.tree.flatten(training)
    code = []
    for kind in sorted(
        {type(part) for part in _parts(training)}, key=lambda kind: kind.__qualname__
    ):
        if kind.__module__.partition(".")[0] != "freqdyna":
            return None
        methods = [value for base in kind.__mro__ for value in vars(base).values()]
        code += [method.__code__ for method in methods if isinstance(method, FunctionType)]
    if not all(isinstance(leaf, bool | int | float | np.ndarray | jax.Array) for leaf in leaves):
        return None
    numbers = [(type(leaf), np.asarray(leaf)) for leaf in leaves]
    exact = tuple((kind, array.dtype.str, array.shape, array.tobytes()) for kind, array in numbers)
    identity = structure, exact, tuple(code)
    try:
        hash(identity)
    except TypeError:  # a static field that cannot be hashed
        return None
    return identity


def _parts(value: Any) -> Iterator[eqx.Module]:
    """The module and all modules in its fields, static ones included."""
    if isinstance(value, eqx.Module):
        yield value
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _parts(item)
