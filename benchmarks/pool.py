"""Trains what several studies lack, with many processes that share an accelerator or the cores.

    python benchmarks/pool.py plan FOLDER choose_defaults "planning_cells:*Maze*" planning_cells
    python benchmarks/pool.py train FOLDER --processes 16
    python benchmarks/planning_cells.py collect FOLDER/planning_cells

`plan` writes what is missing to a file, in this order, so that a machine that only trains needs
neither pyarrow nor the stored results. `train` can be interrupted and started again: a unit is
whole or missing. With `--minutes` it stops by itself, for a machine that is lent for so long; then
fewer processes may finish more units. With NVIDIA's MPS, do not kill one of the processes: all
others lose the accelerator, too.

A study is a module with `units()`, in the order in which they are trained; `file_of(folder, unit)`;
`train(folder, unit)`; and `stored_names()`, the files of the units that were collected before.
"""

import argparse
import fnmatch
import importlib
import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

CORES = sorted(os.sched_getaffinity(0))
PLAN, UNFINISHED = "plan.json", "unfinished"


def plan(folder: Path, studies: list[str]) -> None:
    """Write what is neither stored nor in the folder, as pairs of a study and a file's name."""
    missing: list[tuple[str, str]] = []
    for argument in studies:
        name, _, pattern = argument.partition(":")
        study = importlib.import_module(name)
        stored: set[str] = study.stored_names()
        wanted = [study.file_of(folder / name, unit) for unit in study.units()]
        names = fnmatch.filter([path.name for path in wanted if not path.exists()], pattern or "*")
        new = [(name, one) for one in names if one not in stored and (name, one) not in missing]
        print(f"{argument}: {len(new)} trainings are missing")
        missing += new
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PLAN).write_text(json.dumps(missing, indent=1))


def work(folder: Path, number: int, processes: int) -> None:
    """Train one unit after the other that no other process has begun."""
    os.sched_setaffinity(0, CORES[number % len(CORES) :: processes])
    for name, file in json.loads((folder / PLAN).read_text()):
        study: Any = importlib.import_module(name)
        unit = next(one for one in study.units() if study.file_of(Path(), one).name == file)
        if (folder / name / file).exists():
            continue
        try:
            (folder / name / file).with_suffix(".begun").touch(exist_ok=False)
        except FileExistsError:
            continue
        began = time.monotonic()
        try:
            study.train(folder / name / UNFINISHED, unit)
            (folder / name / UNFINISHED / file).rename(folder / name / file)
        except Exception as error:  # the others are worth having
            print(name, file, repr(error), flush=True)
        else:
            print(f"{name}: {file} in {time.monotonic() - began:.0f} s", flush=True)


def train(folder: Path, processes: int, minutes: float | None) -> None:
    """Start the processes and wait for them, but no longer than some minutes."""
    end = None if minutes is None else time.monotonic() + 60 * minutes
    for name in {name for name, _ in json.loads((folder / PLAN).read_text())}:
        (folder / name / UNFINISHED).mkdir(parents=True, exist_ok=True)
        for left in (folder / name).glob("*.begun"):
            left.unlink()
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # they share the accelerator's memory
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(folder, i, processes)) for i in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(None if end is None else max(end - time.monotonic(), 0.0))
        worker.kill()


def main() -> None:
    """Plan or train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("plan", "train"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("studies", nargs="*", help="in this order: MODULE or MODULE:PATTERN")
    parser.add_argument("--processes", type=int, default=len(CORES))
    parser.add_argument("--minutes", type=float)
    options = parser.parse_args()
    if options.action == "plan":
        plan(options.folder, options.studies)
    else:
        train(options.folder, options.processes, options.minutes)


if __name__ == "__main__":
    main()
