"""What a setting may be: types that carry their check, so that it stands with the field.

`discount: Share = 0.99` says that discount is a float between 0 and 1. A check takes a setting's
name and value, refuses in one sentence what is not allowed, and returns the value as it is kept.
"""

import math
from collections.abc import Callable
from typing import Annotated, Any

from freqdyna.core.errors import FreqdynaError

Check = Callable[[str, Any], Any]

GREATEST = 2**31 - 1  # keys and counters are 32 bits wide
_GREATEST_FLOAT = 1e30  # inside float32, with some room for sums


def require(name: str, value: object, holds: bool, allowed: str) -> None:
    """Refuse `value` unless the condition holds.

    Args:
        name: The setting.
        value: Its value.
        holds: Whether the value is allowed.
        allowed: What is allowed, to complete "it must be ...".

    """
    if not holds:
        raise FreqdynaError(f"{name} is {value!r}; it must be {allowed}")


def integer(least: int) -> Check:
    """The check of an integer that is `least` or greater, and fits into 32 bits."""

    def check(name: str, value: Any) -> Any:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        require(name, value, is_integer and value >= least, f"an integer, {least} or greater")
        require(name, value, value <= GREATEST, f"at most {GREATEST:,}")
        return value

    return check


def number(low: float = -math.inf, high: float = math.inf) -> Check:
    """The check of a finite number from `low` to `high`.

    It is kept as a float, and -0.0 as 0.0: 1 and 1.0 are one setting, and must be written alike.
    """
    allowed = "a finite number"
    if math.isfinite(low):
        allowed = f"{low} or greater" if math.isinf(high) else f"between {low} and {high}"

    def check(name: str, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        holds = is_number and -math.inf < value < math.inf and low <= value <= high
        require(name, value, holds, allowed)
        fits = abs(value) <= _GREATEST_FLOAT
        require(name, value, fits, f"at most {_GREATEST_FLOAT:g} in size")
        return float(value) + 0.0

    return check


def one_of(*choices: str) -> Check:
    """The check of a name out of `choices`."""

    def check(name: str, value: Any) -> Any:
        # A list, which TOML has, is not hashable: compare one by one.
        allowed = " or ".join(map(repr, choices))
        require(name, value, any(value == choice for choice in choices), allowed)
        return value

    return check


def _sequence(least: int, allowed: str) -> Check:
    """The check of a tuple of at least `least` integers, each 1 or greater."""
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


Name = Annotated[str, _name]
Flag = Annotated[bool, _flag]
Count = Annotated[int, integer(1)]
"""An integer, 1 or greater."""
CountOrZero = Annotated[int, integer(0)]
Number = Annotated[float, number()]
NotNegative = Annotated[float, number(0)]
Share = Annotated[float, number(0, 1)]
"""A number between 0 and 1."""
Widths = Annotated[tuple[int, ...], _sequence(1, "one width for each layer, such as 32 32")]
Steps = Annotated[tuple[int, ...], _sequence(0, "a tuple of steps")]
