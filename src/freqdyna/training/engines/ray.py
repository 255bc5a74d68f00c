"""Tasks on a Ray cluster, on one or more machines (extra 'ray')."""

import logging
import socket
from collections.abc import Generator
from typing import Any

from freqdyna.core.errors import FreqdynaError, installing, one_line
from freqdyna.training.engines.base import Engine, Task, TaskOutcome, worker_environment

RETRIES = 5
"""How often a task is retried if its worker or node dies."""
AHEAD = 2
"""Tasks submitted to Ray per slot: enough to keep it busy."""


class Ray(Engine):
    """Ray's scheduler; a task has one CPU and, if the cluster has GPUs, a share of a GPU.

    Args:
        address: The address of a running cluster, "auto", or None to start one on this machine.
        tasks_per_gpu: The number of tasks that share a GPU.

    """

    def __init__(self, address: str | None = None, tasks_per_gpu: int = 1) -> None:
        self._tasks_per_gpu = tasks_per_gpu
        try:
            import ray
        except ImportError:
            raise FreqdynaError(f"engine is 'ray'; it needs: {installing('ray')}") from None
        self._ray = ray
        if not ray.is_initialized():
            _check(address)
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError) as error:
                raise FreqdynaError(
                    f"address is {address!r}, where no Ray cluster answers: {one_line(error)}"
                ) from None

    def slots(self) -> int:
        """The number of tasks for which the cluster currently has CPUs and GPUs."""
        resources = self._ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 1)), int(resources.get("GPU", 0))
        return max(1, min(cpus, gpus * self._tasks_per_gpu) if gpus else cpus)

    def run(self, tasks: list[Task]) -> Generator[TaskOutcome | None, None, None]:
        """See `Engine.run`."""
        ray = self._ray
        waiting = list(reversed(tasks))
        running: dict[Any, str] = {}
        try:
            while waiting or running:
                while waiting and len(running) < AHEAD * self.slots():
                    task = waiting.pop()
                    running[self._submit(task)] = task.name
                done, _ = ray.wait(list(running), timeout=1.0)
                for reference in done:
                    yield TaskOutcome(running.pop(reference), _error(ray, reference))
                if not done:
                    yield None
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def _submit(self, task: Task) -> Any:
        share = max(1, 10_000 // self._tasks_per_gpu) / 10_000  # Ray's smallest part of a GPU
        gpus = share if self._ray.cluster_resources().get("GPU") else 0.0
        remote = self._ray.remote(
            num_cpus=1,
            num_gpus=gpus,
            max_retries=RETRIES,
            retry_exceptions=False,
            runtime_env={"env_vars": worker_environment(gpu=gpus > 0)},
        )(_compute)
        return remote.options(name=f"freqdyna {task.name}").remote(task)


def _check(address: str | None) -> None:
    """Raise an error immediately for an address that Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host:
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError, OverflowError) as error:
        raise FreqdynaError(
            f"address is {address!r}, where no Ray cluster answers: {one_line(error)}"
        ) from None


def _compute(task: Task) -> None:
    task.compute()


def _error(ray: Any, reference: Any) -> str | None:
    try:
        ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        return one_line(error.cause)
    except ray.exceptions.RayError as error:
        return one_line(error)
    return None
