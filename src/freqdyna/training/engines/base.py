"""What every engine does: compute tasks, each on one device, and say how each ended."""

import abc
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""A task has one core: its digits do not depend on how many there are, and cores add up."""


@dataclass(frozen=True)
class Task:
    """Something to compute in another process."""

    name: str
    compute: Callable[[], object]
    """Computes it and stores the outcome; it is pickled to get there."""


@dataclass(frozen=True)
class TaskOutcome:
    """How a task ended."""

    name: str
    error: str | None = None
    """Why it failed; None if it did not."""


class Engine(abc.ABC):
    """Where tasks are computed."""

    @abc.abstractmethod
    def slots(self) -> int:
        """How many tasks it computes at a time."""

    @abc.abstractmethod
    def run(self, tasks: list[Task]) -> Generator[TaskOutcome | None, None, None]:
        """Compute all tasks.

        A task that fails ends with an error, and the others continue. A worker that dies takes
        nothing with it but time: its task is computed again.

        Args:
            tasks: In the order in which they are begun; no two have one name.

        Yields:
            Each outcome as it comes, and None about once a second. Closed before its end, the
            generator stops the tasks under way.

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
