"""Computes all of the study C on one GPU, with no stage waiting for the slowest of another.

`python benchmarks/study.py OUT [--processes N]`: does what `freqdyna reproduce C --together` does,
and what a person does between its stages. As soon as the trainings are stored that decide which
search-controls and defaults later stages train, it prints these decisions, for `FIVE_BEST` in
units.py and `CHOSEN` in defaults.py, and goes on with the later stages. What is stored is not
computed again, and after an interruption the same command resumes.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import jax

from freqdyna.experiments import registry, reproduce, store
from freqdyna.experiments.base import Unit
from freqdyna.experiments.compute import compute
from freqdyna.experiments.parts.controls import cells, defaults, recommendation, units
from freqdyna.experiments.parts.controls.design import FIRST_STAGE
from freqdyna.experiments.trainings import together
from freqdyna.training.engines.local import _multi_process_service, _prepare

SLOWEST_FIRST = ("frequency", "td-climb", "prioritized", "value")
"""Parts of names of search-controls whose steps take longest on a GPU."""
AHEAD = 2
"""Programs that wait in the pool, so that no process is idle while decisions are computed."""


def missing_programs(folder: Path) -> list[Unit]:
    """Programs for the trainings of C that are not stored: stage by stage, the slowest first."""
    stages = stages_by_number()
    # Stage 3 without the ensemble consists of rows of stage 1's programs.
    first = stages["tuning"] + stages["stage 1"] + stages["stage 3"]
    others = (stages[f"stage {number}"] for number in (5, 2, 4, 7))
    found: list[Unit] = []
    for stage in (stages["stage 6"], first, *others):
        missing = [unit for unit in stage if store.read(folder, unit) is None]
        found += sorted(together(missing), key=lambda unit: _rank(unit.name))
    return found


def stages_by_number() -> dict[str, list[Unit]]:
    """The trainings of C by "tuning", "stage 1" and so on."""
    return {name.split(" (")[0]: found for name, found in units.stages().items()}


def _rank(name: str) -> tuple[int, bool]:
    slow = [i for i, control in enumerate(SLOWEST_FIRST) if f"dyna-{control}" in name]
    return (min(slow, default=len(SLOWEST_FIRST)), "Maze" not in name)


def decide(out: Path) -> bool:
    """Set what the stored trainings decide and is not set yet; whether there was any."""
    before = units.FIVE_BEST, defaults.CHOSEN
    found = cells.study(reproduce.stored(registry.find("C"), out))
    first = found.complete()
    if len(first) < len(FIRST_STAGE):
        return False
    units.FIVE_BEST = recommendation.best_by_rank(first, 5)
    control = recommendation.recommended(recommendation.standings(first, found.worse))
    if found.chosen_defaults is not None:
        defaults.CHOSEN = control, found.chosen_defaults
    if before == (units.FIVE_BEST, defaults.CHOSEN):
        return False
    print(f"FIVE_BEST = {units.FIVE_BEST}\nCHOSEN = {defaults.CHOSEN}", flush=True)
    return True


def main(out: Path, processes: int) -> None:
    """Compute everything that is not stored in `out`."""
    folder, began = out / "C", time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    decide(out)
    waiting = missing_programs(folder)
    undecided = {member.name for unit in waiting for member in unit.members or (unit,)}
    print(f"{len(waiting)} programs for {len(undecided)} trainings", flush=True)
    device = os.environ.get("CUDA_VISIBLE_DEVICES", "0" if jax.default_backend() == "gpu" else "")
    running: dict[Future[None], Unit] = {}
    started: set[str] = set()
    with (
        _multi_process_service(),
        tempfile.TemporaryDirectory() as scratch,
        ProcessPoolExecutor(
            processes,
            multiprocessing.get_context("spawn"),
            initializer=_prepare,
            initargs=(device, os.getpid(), scratch),
        ) as pool,
    ):
        while waiting or running:
            while waiting and len(running) < processes + AHEAD:
                unit = waiting.pop(0)
                started.add(unit.name)
                running[pool.submit(compute, unit, folder)] = unit
            for job in wait(running, return_when=FIRST_COMPLETED).done:
                unit = running.pop(job)
                job.result()
                print(f"{time.monotonic() - began:.0f} s: {unit.name}", flush=True)
                undecided -= {member.name for member in unit.members or (unit,)}
            if is_decisive(undecided) and decide(out):
                waiting = [unit for unit in missing_programs(folder) if unit.name not in started]
    print("all trainings are stored", flush=True)


def is_decisive(missing: set[str]) -> bool:
    """Whether all trainings are there that decide something that is not set yet."""
    stages = stages_by_number()
    has_first = not missing & {unit.name for unit in stages["stage 1"]}
    has_fifth = not missing & {unit.name for unit in stages["stage 5"]}
    return has_first and (not units.FIVE_BEST or (has_fifth and defaults.CHOSEN is None))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=24)
    main(**vars(parser.parse_args()))
