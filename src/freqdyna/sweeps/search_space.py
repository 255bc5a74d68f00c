"""The table [search] of a sweep file: the settings to search, their ranges, and the objective.

[search]
trials = 32
together = 8                    # trials suggested at a time, and trained in one program
objective = "mean"              # mean return after the warm-up, or "last"

[search.space]
learning_rate = {low = 0.0001, high = 0.01, log = true}
target_period = {low = 300, high = 3000}
climb_boundary = {choices = ["restart", "project"]}
"""

from dataclasses import dataclass
from typing import Any

from freqdyna.core.errors import FreqdynaError, shown, unknown_name
from freqdyna.sweeps.notes import printable

GREATEST_BATCH = 1000
"""The maximum number of trials at a time; `freqdyna status` expands untrusted files as well."""
OBJECTIVES = ("mean", "last")
_FIELDS = ("trials", "together", "objective", "space")


@dataclass(frozen=True)
class SearchSpace:
    """A hyper-parameter search."""

    space: dict[str, dict[str, Any]]
    """For each setting: low, high and optionally log; or choices."""
    trials: int = 32
    together: int = 8
    objective: str = "mean"

    @staticmethod
    def of(table: dict[str, Any]) -> "SearchSpace":
        """The search that a table describes; invalid tables raise an error."""
        for name in table:
            if name not in _FIELDS:
                raise unknown_name("setting of [search]", name, _FIELDS)
        for name, greatest in (("trials", 100_000), ("together", GREATEST_BATCH)):
            number = table.get(name, 1)
            if type(number) is not int or not 1 <= number <= greatest:
                raise FreqdynaError(
                    f"{name} in [search] is {shown(number)}; it must be an integer, 1 to "
                    f"{greatest:,}"
                )
        if table.get("objective", "mean") not in OBJECTIVES:
            raise FreqdynaError(
                f"objective in [search] is {shown(table['objective'])}; it must be 'mean' or 'last'"
            )
        space = table.get("space")
        if not isinstance(space, dict) or not space:
            raise FreqdynaError("[search.space] is empty; it must have at least one setting")
        for name, range_ in space.items():
            _check_range(name, range_)
        return SearchSpace(**table)

    def ends(self) -> list[tuple[str, Any]]:
        """Each searched setting with each end of its range, or with each of its choices."""
        return [
            (name, value)
            for name, range_ in self.space.items()
            for value in range_.get("choices", (range_.get("low"), range_.get("high")))
        ]


def _check_range(name: str, range_: Any) -> None:
    allowed = "{low = ..., high = ...}, optionally with log = true, or {choices = [...]}"
    wrong = FreqdynaError(
        f"{printable(name)} in [search.space] is {shown(range_)}; it must be {allowed}"
    )
    if not isinstance(range_, dict):
        raise wrong
    if set(range_) == {"choices"}:
        if not isinstance(range_["choices"], list) or not range_["choices"]:
            raise wrong
        return
    if not {"low", "high"} <= set(range_) <= {"low", "high", "log"}:
        raise wrong
    low, high, log = range_["low"], range_["high"], range_.get("log", False)
    numbers = all(type(end) in (int, float) for end in (low, high)) and type(log) is bool
    if not numbers or not low <= high or (log and low <= 0):
        raise wrong
