"""The interface of an engine, which computes tasks, each on one device."""

import abc
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""Each task uses one core, so that its results do not depend on the number of cores."""


@dataclass(frozen=True)
class Task:
    """A computation in another process."""

    name: str
    compute: Callable[[], object]
    """Computes and stores the result; it must be picklable."""


@dataclass(frozen=True)
class TaskOutcome:
    """Whether a task succeeded."""

    name: str
    error: str | None = None
    """Why it failed; None if it succeeded."""


class Engine(abc.ABC):
    """Computes tasks in other processes."""

    @abc.abstractmethod
    def slots(self) -> int:
        """The number of tasks that run at the same time."""

    @abc.abstractmethod
    def run(self, tasks: list[Task]) -> Generator[TaskOutcome | None, None, None]:
        """Compute all tasks.

        If a task fails, the others continue. If a worker dies, its task is computed again.

        Args:
            tasks: The tasks in the order in which they are started; names must be unique.

        Yields:
            Each outcome when it is available, and None about once per second. If the generator is
            closed early, running tasks are stopped.

        """


def worker_environment(gpu: bool) -> dict[str, str]:
    """The environment variables of a worker process with one core or a GPU."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}".strip()
    variables = {"XLA_FLAGS": flags, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    # XLA uses NPROC as its number of threads.
    return variables if gpu else variables | {"NPROC": "1"}
