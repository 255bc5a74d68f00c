"""Where trainings run: the devices of this machine, and engines that compute many tasks.

The seeds of a run share all accelerators, or every CPU core as a separate device: on a CPU, one
batch over all seeds hardly uses a second core, but two devices with half of the seeds each do. JAX
fixes the number of CPU devices when it first computes something, so cores become devices only if
training starts before that.

An engine computes tasks in other processes, each on one device: `Local` on this machine, `Ray` on a
cluster (extra 'ray').
"""

import abc
import contextlib
import logging
import math
import multiprocessing
import os
import platform
import signal
import socket
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from freqdyna.core.errors import FreqdynaError, installing, one_line

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""Each task uses one core, so that its results do not depend on the number of cores."""
ATTEMPTS = 3
"""A task fails if its worker has died this many times."""
RETRIES = 5
"""How often Ray retries a task if its worker or node dies."""
AHEAD = 2
"""Tasks submitted to Ray per slot: enough to keep it busy."""


def cores() -> int:
    """The number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def seed_devices(seeds: int, wanted: int | None = None) -> list[jax.Device]:
    """The devices for so many seeds, at least one seed each; `wanted` is the greatest number."""
    with contextlib.suppress(RuntimeError):  # raised if JAX has already computed something
        jax.config.update("jax_num_cpu_devices", wanted or cores())
    devices = jax.devices()[: wanted or None]
    seeds_each = math.ceil(seeds / min(len(devices), seeds))
    return devices[: math.ceil(seeds / seeds_each)]


def keep_compiled_programs() -> None:
    """Let JAX cache programs that take longer than a second to compile, between runs.

    They are in a folder of this machine and user that can be deleted at any time. JAX's settings
    take precedence: `JAX_COMPILATION_CACHE_DIR` selects another folder, and
    `JAX_ENABLE_COMPILATION_CACHE=false` disables the cache.
    """
    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home folder, as in some containers
        return
    # A program compiled for one processor may not run on another that shares the home folder.
    folder = home / "freqdyna" / f"compiled-{platform.machine()}-{platform.node()}"
    jax.config.update("jax_compilation_cache_dir", str(folder))


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
        """Compute all tasks in this order; their names are unique.

        Yields each outcome when it is available, and None about once per second. If a task fails,
        the others continue. If a worker dies, its task is computed again. If the generator is
        closed early, running tasks are stopped.
        """


def worker_environment(gpu: bool) -> dict[str, str]:
    """The environment variables of a worker process with one core or a GPU."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}".strip()
    variables = {"XLA_FLAGS": flags, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    # XLA uses NPROC as its number of threads.
    return variables if gpu else variables | {"NPROC": "1"}


class Local(Engine):
    """A pool of one process for each slot, so that a dying process affects only one task.

    There are `workers` processes; by default `tasks_per_gpu` for each GPU, or one for each core.
    """

    def __init__(self, workers: int | None = None, tasks_per_gpu: int = 1) -> None:
        self._gpus = _gpus()
        self._workers = workers or len(self._gpus) * tasks_per_gpu or cores()

    def slots(self) -> int:
        """The number of processes."""
        return self._workers

    def run(self, tasks: list[Task]) -> Generator[TaskOutcome | None, None, None]:
        """See `Engine.run`."""
        with tempfile.TemporaryDirectory(prefix="freqdyna-", ignore_cleanup_errors=True) as scratch:
            yield from self._run(tasks, scratch)

    def _run(self, tasks: list[Task], scratch: str) -> Generator[TaskOutcome | None, None, None]:
        strangers = set(multiprocessing.active_children())
        waiting, deaths = deque(tasks), Counter[str]()
        slots = min(self._workers, len(tasks))
        pools = {slot: self._pool(slot, scratch) for slot in range(slots)}
        free = list(pools)
        jobs: dict[Future[object], tuple[int, Task]] = {}
        try:
            while waiting or jobs:
                while waiting and free:
                    slot, task = free.pop(), waiting.popleft()
                    try:
                        job = _submit(pools[slot], task)
                    except BrokenProcessPool:  # the process died while it was idle
                        pools[slot] = self._pool(slot, scratch)
                        job = _submit(pools[slot], task)
                    jobs[job] = slot, task
                done, _ = wait(jobs, timeout=1.0, return_when=FIRST_COMPLETED)
                for job in done:
                    slot, task = jobs.pop(job)
                    free.append(slot)
                    error = job.exception()
                    if not isinstance(error, BrokenProcessPool):
                        yield TaskOutcome(task.name, one_line(error) if error else None)
                        continue
                    pools[slot].shutdown()
                    pools[slot] = self._pool(slot, scratch)
                    deaths[task.name] += 1
                    if deaths[task.name] < ATTEMPTS:
                        waiting.appendleft(task)
                    else:
                        yield TaskOutcome(task.name, f"its worker died {ATTEMPTS} times")
                if not done:
                    yield None
        except BaseException:  # interrupted: let running tasks save their state
            for worker in set(multiprocessing.active_children()) - strangers:
                worker.terminate()
            raise
        finally:
            for pool in pools.values():
                pool.shutdown(wait=True, cancel_futures=True)

    def _pool(self, slot: int, scratch: str) -> ProcessPoolExecutor:
        """The pool of a slot; its process starts with its first task."""
        device = self._gpus[slot % len(self._gpus)] if self._gpus else ""
        context = multiprocessing.get_context("spawn")
        arguments = (device, os.getpid(), scratch)
        return ProcessPoolExecutor(1, mp_context=context, initializer=_prepare, initargs=arguments)


def _submit(pool: ProcessPoolExecutor, task: Task) -> Future[object]:
    """Submit a task; a process that is started for it ignores SIGINT and SIGHUP from the beginning.

    Ctrl-C in a terminal, or closing it, reaches the workers as well, but only the driver decides
    what to stop.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGHUP])
    try:
        return pool.submit(task.compute)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare(device: str, parent: int, scratch: str) -> None:
    """Set up a new worker process: its device, its threads, and exiting with its parent."""
    tempfile.tempdir = scratch  # the driver removes it even if the worker is killed
    if device:
        os.environ["CUDA_VISIBLE_DEVICES"] = device
    os.environ.update(worker_environment(gpu=bool(device)))

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)  # the parent was killed, and nobody else would stop the worker

    threading.Thread(target=watch, daemon=True).start()


def _gpus() -> list[str]:
    """The GPUs of this machine, by their CUDA indices."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the workers need the memory
    if jax.default_backend() != "gpu":
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible.split(",") if visible else [str(i) for i in range(jax.device_count())]


class Ray(Engine):
    """Ray's scheduler; a task has one CPU and, if the cluster has GPUs, a share of a GPU.

    The address is that of a running cluster, "auto", or None to start one on this machine.
    """

    def __init__(self, address: str | None = None, tasks_per_gpu: int = 1) -> None:
        self._tasks_per_gpu = tasks_per_gpu
        try:
            import ray
        except ImportError:
            raise FreqdynaError(f"engine is 'ray'; it needs: {installing('ray')}") from None
        self._ray = ray
        if not ray.is_initialized():
            _check_address(address)
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
                    yield TaskOutcome(running.pop(reference), _error_of_task(ray, reference))
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
        )(lambda task: task.compute())
        return remote.options(name=f"freqdyna {task.name}").remote(task)


def _check_address(address: str | None) -> None:
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


def _error_of_task(ray: Any, reference: Any) -> str | None:
    try:
        ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        return one_line(error.cause)
    except ray.exceptions.RayError as error:
        return one_line(error)
    return None
