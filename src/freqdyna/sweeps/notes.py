"""Progress notes of units. They are not trusted, and are checked before they are used.

They are shown on a terminal, where control characters could do harm.
"""

from dataclasses import dataclass
from typing import Any, TypeGuard

GREATEST_STEP = 2**31
LONGEST = 1e9
"""Seconds, about thirty years: greater values are rejected."""
GREATEST_RETURN = 1e12


@dataclass(frozen=True)
class Note:
    """The progress of a running unit."""

    step: int
    steps: int
    seconds_left: float
    time: float
    """When it was written."""
    mean_return: float | None
    host: str
    together: int = 1
    """The number of units in its program, which share its time."""
    left_out: str = ""
    """The number of seeds and why some are left out of `mean_return`; empty if none is."""

    @staticmethod
    def of(facts: dict[str, Any] | None) -> "Note | None":
        """The note in a file; None if it is not valid."""
        facts = facts or {}
        step, steps = facts.get("step"), facts.get("steps")
        left, time, mean = facts.get("seconds_left"), facts.get("time"), facts.get("mean_return")
        if not (type(step) is int and type(steps) is int and 0 <= step <= steps <= GREATEST_STEP):
            return None
        if not _is_number(left, 0, LONGEST) or not _is_number(time, 0, 100 * LONGEST):
            return None
        mean_return = float(mean) if _is_number(mean, -GREATEST_RETURN, GREATEST_RETURN) else None
        host, together = printable(facts.get("host"), 64), facts.get("together")
        together = together if type(together) is int and 1 <= together <= GREATEST_STEP else 1
        left_out = printable(facts.get("left_out"), 100)
        return Note(step, steps, float(left), float(time), mean_return, host, together, left_out)


def printable(text: object, longest: int = 2000) -> str:
    """A text in one line without control characters; empty if it is not a text."""
    given = text[:longest] if isinstance(text, str) else ""
    return "".join(c if c.isprintable() else " " for c in given)


def _is_number(value: Any, low: float, high: float) -> TypeGuard[float]:
    return type(value) in (int, float) and low <= value <= high
