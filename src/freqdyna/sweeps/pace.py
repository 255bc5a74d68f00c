"""The pace of a unit: its remaining time, measured without the time that compilation takes."""

from dataclasses import dataclass, replace
from typing import NamedTuple


class Estimate(NamedTuple):
    """What the pace of a unit says about its duration."""

    seconds_left: float
    """The time of the remaining steps."""
    setup_seconds: float
    """The time that was not spent on steps, most of it compilation."""


class _Update(NamedTuple):
    time: float
    step: int


@dataclass(frozen=True)
class Pace:
    """Measures the time per step of a unit between two updates at different steps.

    The first update follows the compilation of a step, and the first evaluation that of an
    evaluation, so the time per step is measured from the later of them.
    """

    began: float
    """When the unit was started, by any clock."""
    first_step: int = 0
    """The step from which it starts or resumes."""
    since: _Update | None = None
    """The update from which the time per step is measured."""
    evaluated: bool = False
    """Whether there was an evaluation."""

    def updated(self, now: float, step: int, evaluates: bool) -> "Pace":
        """The pace after an update.

        Args:
            now: The time, by the clock of `began`.
            step: The number of steps that every seed has taken.
            evaluates: Whether there was an evaluation at this step.

        """
        if self.since is None or (evaluates and not self.evaluated):
            return replace(self, since=_Update(now, step), evaluated=evaluates)
        return self

    def estimate(self, now: float, step: int, steps: int) -> Estimate | None:
        """The remaining time; None until there are updates at two steps.

        Args:
            now: The time, by the clock of `began`.
            step: The number of steps that every seed has taken.
            steps: The number of steps of the unit.

        """
        if self.since is None or step <= self.since.step:
            return None
        each = (now - self.since.time) / (step - self.since.step)
        before = self.since.time - self.began
        trained = each * (self.since.step - self.first_step)
        return Estimate(each * (steps - step), max(before - trained, 0.0))
