"""Types of settings that include their validation, so that it is declared with each field.

`discount: Share = 0.99` declares a float between 0 and 1. A check takes the name and the value of a
setting, raises an error of one sentence if the value is invalid, and returns the value to store.
"""

import ast
import math
import types
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from freqdyna.core.errors import FreqdynaError, shown

Check = Callable[[str, Any], Any]

GREATEST = 2**31 - 1  # keys and counters are 32 bits wide
LONGEST_LITERAL = 1000
ALGORITHM_ALIASES = {"dqn": "er"}
"""Names that other libraries have for an algorithm."""
_GREATEST_FLOAT = 1e30  # inside float32, with some room for sums


def require(name: str, value: object, holds: bool, allowed: str) -> None:
    """Raise an error unless a condition holds.

    Args:
        name: The name of the setting.
        value: Its value.
        holds: Whether the value is allowed.
        allowed: What is allowed, to complete "it must be ...".

    """
    if not holds:
        raise FreqdynaError(f"{name} is {shown(value)}; it must be {allowed}")


@cache
def checks_of(settings: type) -> dict[str, tuple[Check, bool]]:
    """The check of each field of a class, from its type, and whether the field may be None."""
    checks = {}
    for name, hint in get_type_hints(settings, include_extras=True).items():
        kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        checks[name] = kinds[0].__metadata__[0], type(None) in kinds
    return checks


def means_none(settings: type, name: str, value: object) -> bool:
    """Whether a value in a file stands for None, as the text "None" does on the command line.

    Args:
        settings: The class of the settings.
        name: The name of the field.
        value: Its value in the file.

    """
    is_text = isinstance(value, str) and value in ("None", "none")
    return is_text and checks_of(settings)[name][1]


def from_toml(settings: type, name: str, value: Any) -> Any:
    """A value that TOML cannot write: a list stands for a tuple, a text for None."""
    if isinstance(value, list):
        return tuple(value)
    return None if means_none(settings, name, value) else value


def plain(value: Any) -> Any:
    """NumPy numbers as Python numbers, so that they can be written to a file."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def integer(least: int) -> Check:
    """A check for integers that are `least` or greater and fit into 32 bits."""

    def check(name: str, value: Any) -> Any:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        require(name, value, is_integer and value >= least, f"an integer, {least} or greater")
        require(name, value, value <= GREATEST, f"at most {GREATEST:,}")
        return value

    return check


def number(low: float = -math.inf, high: float = math.inf, above: bool = False) -> Check:
    """A check for finite numbers from `low` to `high`; with `above`, greater than `low`.

    They are stored as floats, and -0.0 as 0.0, so that equal settings have the same representation.
    """
    allowed = "a finite number"
    if math.isfinite(low):
        allowed = f"{low} or greater" if math.isinf(high) else f"between {low} and {high}"
        allowed = f"greater than {low}" if above else allowed

    def check(name: str, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        holds = is_number and -math.inf < value < math.inf and low <= value <= high
        holds = holds and not (above and value == low)
        require(name, value, holds, allowed)
        fits = abs(value) <= _GREATEST_FLOAT
        require(name, value, fits, f"at most {_GREATEST_FLOAT:g} in size")
        return float(value) + 0.0

    return check


def one_of(*choices: str) -> Check:
    """A check for one of several strings."""

    def check(name: str, value: Any) -> Any:
        # A list, which TOML may contain, is not hashable: compare one by one.
        allowed = " or ".join(map(repr, choices))
        require(name, value, any(value == choice for choice in choices), allowed)
        return value

    return check


def one_of_or_code(*choices: str) -> Check:
    """A check for one of several strings, or the name of a class, `module:Class`."""
    allowed = ", ".join(map(repr, choices)) + " or module:Class"

    def check(name: str, value: Any) -> Any:
        require(name, value, isinstance(value, str) and (value in choices or ":" in value), allowed)
        return value

    return check


def _sequence(least: int, allowed: str) -> Check:
    """A check for tuples of at least `least` integers from 1."""
    each = integer(1)

    def check(name: str, value: Any) -> Any:
        require(name, value, isinstance(value, tuple) and len(value) >= least, allowed)
        return tuple(each(name, one) for one in value)

    return check


def _name(name: str, value: Any) -> Any:
    require(name, value, isinstance(value, str), "a name")
    return value


def _flag(name: str, value: Any) -> Any:
    require(name, value, isinstance(value, bool), "True or False")
    return value


def known_algorithm(name: Any) -> Any:
    """Our name of an algorithm that other libraries call `name`; otherwise the name itself."""
    return ALGORITHM_ALIASES.get(name.lower(), name) if isinstance(name, str) else name


def _algorithm(name: str, value: Any) -> Any:
    return known_algorithm(_name(name, value))


def _keywords(name: str, value: Any) -> Any:
    """Keyword arguments, given as a dictionary or as texts such as "gravity=3.0"."""
    if isinstance(value, dict):
        value = tuple(f"{key}={_literal_text(name, key, one)}" for key, one in value.items())
    require(name, value, isinstance(value, tuple), "keyword arguments, such as gravity=3.0")
    for one in value:
        holds = isinstance(one, str) and one.partition("=")[0].isidentifier() and "=" in one
        require(name, one, holds, "key=value, such as gravity=3.0")
    keys = [one.partition("=")[0] for one in value]
    require(name, value, len(set(keys)) == len(keys), "at most one value for each key")
    return value


def _literal_text(name: str, key: object, value: Any) -> str:
    """A value as `literal` reads it back."""
    text = value if isinstance(value, str) and literal(value) == value else repr(value)
    holds = literal(text) == value and type(literal(text)) is type(value)
    require(
        f"{name}[{key!r}]", value, holds, "a text, a number, True, False, None or a list of them"
    )
    return text


def literal(text: str) -> Any:
    """The number, Boolean, list or quoted text that is written here; otherwise the text itself."""
    try:
        return ast.literal_eval(text) if len(text) <= LONGEST_LITERAL else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def keywords(given: tuple[str, ...]) -> dict[str, Any]:
    """The keyword arguments of a setting such as env_kwargs."""
    return {key: literal(text) for key, _, text in (one.partition("=") for one in given)}


def value_text(name: str, value: Any) -> str:
    """The value of a setting in a message or a table; keyword arguments are key=value.

    Args:
        name: The setting.
        value: Its value in a `Config` or in a file.

    """
    if name != "env_kwargs":
        return str(value)
    return " ".join(_keywords(name, value if isinstance(value, dict) else tuple(value))) or "none"


Name = Annotated[str, _name]
AlgorithmName = Annotated[str, _algorithm]
Keywords = Annotated[tuple[str, ...], _keywords]
"""Keyword arguments as texts, key=value."""
Flag = Annotated[bool, _flag]
Count = Annotated[int, integer(1)]
"""An integer, 1 or greater."""
CountOrZero = Annotated[int, integer(0)]
Number = Annotated[float, number()]
NotNegative = Annotated[float, number(0)]
Positive = Annotated[float, number(0, above=True)]
Share = Annotated[float, number(0, 1)]
"""A number between 0 and 1."""
Widths = Annotated[tuple[int, ...], _sequence(1, "one width for each layer, such as 32 32")]
Steps = Annotated[tuple[int, ...], _sequence(0, "a tuple of steps")]
