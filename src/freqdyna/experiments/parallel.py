"""Several units at a time, one process each.

A single training leaves a GPU idle most of the time: its kernels are short and wait for each other.
So units run beside each other there, under NVIDIA's MPS where it is installed.
"""

import multiprocessing
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from freqdyna.core.errors import FreqdynaError


def compute_all(
    experiment: str, names: list[str], out: Path, quick: bool, seeds: int | None, processes: int
) -> None:
    """Compute and store units by name; if some fail the others are still finished."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # processes share the memory
    context = multiprocessing.get_context("spawn")
    began, failed = time.monotonic(), []
    with (
        _mps(),
        ProcessPoolExecutor(processes, mp_context=context, max_tasks_per_child=1) as pool,
    ):
        jobs = {pool.submit(_compute, experiment, name, out, quick, seeds): name for name in names}
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                if job.exception() is not None:
                    failed.append(f"{jobs[job]}: {job.exception()}")
                outcome = "failed" if job.exception() else "done"
                seconds = time.monotonic() - began
                told = f"[{seconds:,.0f} s] {done} of {len(names)}: {jobs[job]} {outcome}"
                print(told, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    if failed:
        raise FreqdynaError(f"{len(failed)} of {len(names)} parts failed; {failed[0]}")


def _compute(experiment: str, name: str, out: Path, quick: bool, seeds: int | None) -> None:
    """One unit, in a process of its own; what it tells goes into a file beside it."""
    from freqdyna.experiments import compute, registry, store

    found = registry.find(experiment)
    folder = out / experiment
    unit = next(u for u in compute.sized_units(found, quick, seeds) if u.name == name)
    log = store.unit_path(folder, unit).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file, redirect_stdout(file):
        compute.compute(unit, folder)
    log.unlink()


@contextmanager
def _mps() -> Iterator[None]:
    """NVIDIA's multi-process service while it is needed, if it is installed and not running."""
    control = shutil.which("nvidia-cuda-mps-control")
    started = control and subprocess.run([control, "-d"], capture_output=True).returncode == 0
    try:
        yield
    finally:
        if control and started:
            subprocess.run([control], input=b"quit\n", capture_output=True)
