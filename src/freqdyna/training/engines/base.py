"""What every engine does: compute units, each on one device, and say how each ended."""

import abc
import os
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""A unit has one core: its digits do not depend on how many there are, and cores add up."""


@dataclass(frozen=True)
class Task:
    """One unit to compute, or several in one program, as plain data."""

    name: str
    """Of the first of them."""
    location: str
    settings: list[dict[str, Any]]
    """Of each."""
    checkpoint_seconds: float

    def compute(self) -> None:
        """Compute the units in this process, and store them."""
        from freqdyna.sweeps import unit_work

        unit_work.compute(self.location, self.settings, self.checkpoint_seconds)


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended."""

    name: str
    error: str | None = None
    """Why it failed; None if its units are stored."""


class Engine(abc.ABC):
    """Where units execute."""

    @abc.abstractmethod
    def slots(self) -> int:
        """How many units it computes at a time."""

    @abc.abstractmethod
    def run(self, tasks: list[Task]) -> Generator[TaskOutcome | None, None, None]:
        """Compute all; yields each outcome as it comes, and None about once a second.

        Closed before its end, it stops what is under way.

        A unit that fails ends with an error, and the others go on. A worker that dies takes nothing
        with it but time.
        """


def worker_environment(gpu: bool) -> dict[str, str]:
    """The environment variables of a worker process, which has a core or a GPU."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}".strip()
    variables = {"XLA_FLAGS": flags, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    # XLA reads NPROC as the number of threads it may have.
    return variables if gpu else variables | {"NPROC": "1"}


def one_line(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
