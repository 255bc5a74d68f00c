"""Progress notes of units. They are not trusted, and are checked before they are used.

They are shown on a terminal, where control characters could do harm.
"""

from dataclasses import dataclass
from typing import Any, TypeGuard

from freqdyna.training.progress import LastEvaluation

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
    last: LastEvaluation | None
    """Its last evaluation; None before the first one."""
    host: str
    together: int = 1
    """The number of units in its program, which share its time."""

    @staticmethod
    def of(facts: dict[str, Any] | None) -> "Note | None":
        """The note in a file; None if it is not valid."""
        facts = facts or {}
        step, steps = facts.get("step"), facts.get("steps")
        left, time = facts.get("seconds_left"), facts.get("time")
        if not (type(step) is int and type(steps) is int and 0 <= step <= steps <= GREATEST_STEP):
            return None
        if not _is_number(left, 0, LONGEST) or not _is_number(time, 0, 100 * LONGEST):
            return None
        host, together = printable(facts.get("host"), 64), facts.get("together")
        together = together if type(together) is int and 1 <= together <= GREATEST_STEP else 1
        last = _last_evaluation(facts, step)
        return Note(step, steps, float(left), float(time), last, host, together)


def _last_evaluation(facts: dict[str, Any], step: int) -> LastEvaluation | None:
    """The last evaluation that a note has; None if there is none, or it is not valid."""
    evaluated, mean = facts.get("evaluated"), facts.get("mean_return")
    if type(evaluated) is not int or not 0 <= evaluated <= step:
        return None
    mean_return = float(mean) if _is_number(mean, -GREATEST_RETURN, GREATEST_RETURN) else None
    return LastEvaluation(evaluated, mean_return, printable(facts.get("left_out"), 100))


def printable(text: object, longest: int = 2000) -> str:
    """A text in one line without control characters; empty if it is not a text."""
    given = text[:longest] if isinstance(text, str) else ""
    return "".join(c if c.isprintable() else " " for c in given)


def _is_number(value: Any, low: float, high: float) -> TypeGuard[float]:
    return type(value) in (int, float) and low <= value <= high
