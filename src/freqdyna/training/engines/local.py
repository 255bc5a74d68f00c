"""Processes on one machine: one or more per GPU, or one per core if there is no GPU."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import tempfile
from collections import Counter, deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext

from freqdyna.core.errors import one_line
from freqdyna.training.devices import cores
from freqdyna.training.engines.base import Engine, Task, TaskOutcome, worker_environment

ATTEMPTS = 3
"""A task fails if its worker has died this many times."""


class Local(Engine):
    """A pool of one process for each slot, so that a dying process affects only one task.

    Args:
        workers: The number of processes; None for `tasks_per_gpu` per GPU, or one per core.
        tasks_per_gpu: The number of tasks that share a GPU.

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
            shared = bool(self._gpus) and self._workers > len(self._gpus)
            with _multi_process_service() if shared else nullcontext():
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
        given = (device, os.getpid(), scratch)
        return ProcessPoolExecutor(1, mp_context=context, initializer=_prepare, initargs=given)


@contextmanager
def _multi_process_service() -> Iterator[None]:
    """Run NVIDIA's MPS while it is needed, if it is installed and not running already.

    A single training leaves a GPU idle most of the time, because its kernels are short and run in
    sequence. With MPS the kernels of several processes run at the same time.
    """
    control = shutil.which("nvidia-cuda-mps-control")
    started = control and subprocess.run([control, "-d"], capture_output=True).returncode == 0
    try:
        yield
    finally:
        if control and started:
            subprocess.run([control], input=b"quit\n", capture_output=True)


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
    _end_with(parent)


def _end_with(parent: int) -> None:
    """Exit if the parent was killed, because nobody would stop the worker otherwise."""
    import threading
    import time

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _gpus() -> list[str]:
    """The GPUs of this machine, by their CUDA indices."""
    import jax

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the workers need the memory
    if jax.default_backend() != "gpu":
        return []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return given.split(",") if given else [str(i) for i in range(jax.device_count())]
