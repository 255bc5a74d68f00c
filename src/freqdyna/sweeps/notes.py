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
    seconds_left: float | None
    """The time of the remaining steps; None before it can be estimated, as while compiling."""
    time: float
    """When it was written."""
    last: LastEvaluation | None
    """Its last evaluation; None before the first one."""
    host: str
    together: int = 1
    """The number of units in its program, which share its time."""
    setup_seconds: float = 0.0
    """The time that was not spent on steps, most of it compilation."""
    seconds: float = 0.0
    """The time since its start."""

    @property
    def whole_seconds(self) -> float | None:
        """The duration of its program from start to end; None before it can be estimated."""
        if self.seconds_left is None or self.step == self.steps:
            return None
        return self.setup_seconds + self.seconds_left * self.steps / (self.steps - self.step)

    @staticmethod
    def of(facts: dict[str, Any] | None) -> "Note | None":
        """The note in a file; None if it is not valid."""
        facts = facts or {}
        step, steps = facts.get("step"), facts.get("steps")
        left, time = facts.get("seconds_left"), facts.get("time")
        if not (type(step) is int and type(steps) is int and 0 <= step <= steps <= GREATEST_STEP):
            return None
        if left is not None and not is_number(left, 0, LONGEST):
            return None
        if not is_number(time, 0, 100 * LONGEST):
            return None
        host, together = printable(facts.get("host"), 64), facts.get("together")
        together = together if type(together) is int and 1 <= together <= GREATEST_STEP else 1
        last = _last_evaluation(facts, step)
        setup, seconds = (
            float(value) if is_number(value, 0, LONGEST) else 0.0
            for value in (facts.get("setup_seconds"), facts.get("seconds"))
        )
        left = None if left is None else float(left)
        return Note(step, steps, left, float(time), last, host, together, setup, seconds)


def _last_evaluation(facts: dict[str, Any], step: int) -> LastEvaluation | None:
    """The last evaluation that a note has; None if there is none, or it is not valid."""
    evaluated, mean = facts.get("evaluated"), facts.get("mean_return")
    if type(evaluated) is not int or not 0 <= evaluated <= step:
        return None
    mean_return = float(mean) if is_number(mean, -GREATEST_RETURN, GREATEST_RETURN) else None
    return LastEvaluation(evaluated, mean_return, printable(facts.get("left_out"), 100))


def printable(text: object, longest: int = 2000) -> str:
    """A text in one line without control characters; empty if it is not a text."""
    given = text[:longest] if isinstance(text, str) else ""
    return "".join(c if c.isprintable() else " " for c in given)


def is_number(value: Any, low: float, high: float) -> TypeGuard[float]:
    """Whether a value of a file is a number from `low` to `high`."""
    return type(value) in (int, float) and low <= value <= high
