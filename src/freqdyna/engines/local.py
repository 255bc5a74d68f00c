"""The processes of one machine: some for each GPU, or one for each core where there is none."""

import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from freqdyna.devices import cores
from freqdyna.engines.base import Engine, Outcome, Task, said, worker_environment

ATTEMPTS = 3
"""Workers that may die over one unit before it counts as failed."""


class Local(Engine):
    """A pool of processes."""

    def __init__(self, workers: int | None = None, units_per_gpu: int = 1) -> None:
        self._gpus = _gpus()
        self._workers = workers or len(self._gpus) * units_per_gpu or cores()

    def slots(self) -> int:
        """One for each process."""
        return self._workers

    def run(self, tasks: list[Task]) -> Iterator[Outcome | None]:
        """See `Engine.run`. If a worker dies, what it and the others had begun is begun again."""
        waiting, deaths = {task.name: task for task in tasks}, Counter[str]()
        while waiting:
            yield from self._one_pool(waiting)
            for name in list(waiting):
                deaths[name] += 1
                if deaths[name] >= ATTEMPTS:
                    del waiting[name]
                    yield Outcome(name, f"its worker died {ATTEMPTS} times")

    def _one_pool(self, waiting: dict[str, Task]) -> Iterator[Outcome | None]:
        """Compute until all is done or a worker dies; takes what is done out of `waiting`."""
        context = multiprocessing.get_context("spawn")
        strangers = set(multiprocessing.active_children())
        devices = context.Queue()
        for place in range(self._workers):
            devices.put(self._gpus[place % len(self._gpus)] if self._gpus else "")
        pool = ProcessPoolExecutor(
            self._workers, mp_context=context, initializer=_prepare, initargs=(devices, os.getpid())
        )
        jobs: dict[Future[None], str] = {}
        names = iter(list(waiting))
        try:
            while True:
                while len(jobs) < self._workers and (name := next(names, None)):
                    jobs[pool.submit(waiting[name].compute)] = name
                if not jobs:
                    return
                done, _ = wait(jobs, timeout=1.0, return_when=FIRST_COMPLETED)
                for job in done:
                    name, error = jobs.pop(job), job.exception()
                    if isinstance(error, BrokenProcessPool):
                        return
                    del waiting[name]
                    yield Outcome(name, said(error) if error else None)
                if not done:
                    yield None
        finally:
            if jobs:  # stopped: let the units under way save what they have
                for worker in set(multiprocessing.active_children()) - strangers:
                    worker.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


def _prepare(devices: Any, parent: int) -> None:
    """Set a new worker process up: its device, its threads, and its end with its parent."""
    device = devices.get()
    if device:
        os.environ["CUDA_VISIBLE_DEVICES"] = device
    os.environ.update(worker_environment(gpu=bool(device)))
    _end_with(parent)


def _end_with(parent: int) -> None:
    """Do not outlive a parent that was killed: nobody would look after the worker."""
    import threading
    import time

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _gpus() -> list[str]:
    """The GPUs of this machine, as CUDA numbers them."""
    import jax

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the workers need the memory
    if jax.default_backend() != "gpu":
        return []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return given.split(",") if given else [str(i) for i in range(jax.device_count())]
