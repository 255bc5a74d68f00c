"""`freqdyna reproduce NAME`: compute what is not stored yet, and analyse the results."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from freqdyna.core.errors import FreqdynaError, RunFailedError, counted
from freqdyna.core.tables import find_table
from freqdyna.results.draw_matplotlib import draw
from freqdyna.results.plot import save_figure
from freqdyna.training.engines import Local, Task
from freqdyna.training.interrupts import InterruptedRun
from freqdyna.training.progress import Display
from reproduction import store
from reproduction.base import Experiment, Findings, Stored, Unit
from reproduction.compute import compute, read_progress, sized_units
from reproduction.diverged_seeds import findings_of
from reproduction.trainings import together

FULL, QUICK = Path("runs/reproduce"), Path("runs/reproduce-quick")
"""The default folders of results."""
FIGURE = "figure.png"


def reproduce(
    experiment: Experiment,
    out: Path,
    quick: bool = False,
    seeds: int | None = None,
    processes: int = 1,
    one_program: bool = False,
) -> Findings:
    """Compute the units that are not stored yet, analyse all of them, and draw the figure.

    After an interruption, the same call resumes.

    Args:
        experiment: The experiment.
        out: The folder of results; trainings are in its subfolder `trainings`, which experiments
            share, and everything else is in a subfolder with the experiment's name.
        quick: Whether to do a quick run of less than a minute.
        seeds: The number of seeds per training, if it is not the default.
        processes: The number of units that are computed at a time.
        one_program: Whether to compute trainings that differ only in numbers as rows of one
            program.

    Returns:
        The result of the analysis.

    """
    units = sized_units(experiment, quick, seeds)
    folder = out / experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FreqdynaError(f"out is {str(out)!r}, which cannot be created: {error}") from None
    missing = [unit for unit in units if store.read(folder, unit) is None]
    if not missing:
        print(f"{experiment.name}: analysing the results stored in {out}")
    else:
        size = "less than a minute" if quick else experiment.duration
        size = f"{counted(seeds, 'seed')} instead of the default" if seeds else size
        print(f"{experiment.name}: computing {len(missing)} of {len(units)} parts, {size}")
    if one_program:
        missing = together(missing)
    if processes > 1 and len(missing) > 1:
        _compute_in_processes(missing, folder, processes)
    else:
        with Display() as display:
            for unit in missing:
                compute(unit, folder, display)
    findings = analyse(experiment, out, quick, seeds)
    save_figure(draw(findings.chart), folder / FIGURE)
    return findings


def _compute_in_processes(units: list[Unit], folder: Path, processes: int) -> None:
    """Compute several units at a time; if some fail, the others are still finished."""
    by_name = {unit.name: unit for unit in units}
    tasks = [Task(unit.name, partial(compute, unit, folder)) for unit in units]
    failed: dict[str, str] = {}
    outcomes = Local(processes).run(tasks)
    ended = 0
    try:
        with Display() as display:
            for outcome in outcomes:
                if outcome is not None:
                    ended += 1
                    del by_name[outcome.name]
                    display.remove(outcome.name)
                    if outcome.error is not None:
                        failed[outcome.name] = outcome.error
                    end = f"failed: {outcome.error}" if outcome.error else "done"
                    display.note(f"{ended} of {len(units)} parts: {outcome.name} {end}")
                running = {name: read_progress(unit, folder) for name, unit in by_name.items()}
                for name, progress in running.items():
                    if progress is not None:
                        display.show(name, *progress)
                active = sum(progress is not None for progress in running.values())
                done = ended - len(failed)
                display.headline(
                    f"{folder.name}: {done} of {len(units)} parts done, {active} running, "
                    f"{len(failed)} failed"
                )
    except KeyboardInterrupt:
        raise InterruptedRun("stopped; the same command resumes") from None
    finally:
        outcomes.close()  # stops running units, which save their state
    if failed:
        name, error = next(iter(failed.items()))
        raise RunFailedError(f"{len(failed)} of {len(units)} parts failed; {name}: {error}")


def analyse(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> Findings:
    """Analyse the stored units; all of them must exist, except optional ones."""
    return findings(experiment, stored(experiment, out, quick, seeds), quick)


def findings(experiment: Experiment, units: dict[str, Stored], quick: bool = False) -> Findings:
    """Analyse units, and say how many are not stored.

    Args:
        experiment: The experiment.
        units: Its stored units by name.
        quick: Whether they are those of a quick run.

    """
    found = findings_of(experiment, units)
    wanted = experiment.units(quick)
    missing = sum(unit.name not in units for unit in wanted)
    notes = [f"{missing} of {len(wanted)} trainings are not computed yet."] if missing else []
    return replace(found, notes=(*found.notes, *notes))


def stored(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> dict[str, Stored]:
    """The stored units by name.

    Raises:
        FreqdynaError: If a unit is missing that is not optional.

    """
    found = {}
    for unit in sized_units(experiment, quick, seeds):
        one = store.read(out / experiment.name, unit)
        if one is None and unit.optional:
            continue
        if one is None:
            path = store.unit_path(out / experiment.name, unit)
            raise FreqdynaError(
                f"{path} is missing; compute it with: freqdyna reproduce {experiment.name}"
            )
        found[unit.name] = one
    for unit in experiment.measured:
        if (one := store.read(out / experiment.name, unit)) is not None:
            found[unit.name] = one
    return found


def plan(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> list[str]:
    """A line for each unit: the state of its file, its seeds and steps if it has any, its name."""
    lines = []
    for unit in sized_units(experiment, quick, seeds):
        state = store.condition(out / experiment.name, unit)
        known = "other settings" if state == "other" else state
        numbers = ((unit.settings.get(f"{noun}s"), noun) for noun in ("seed", "step"))
        size = [counted(number, noun) for number, noun in numbers if number is not None]
        lines.append("  ".join([f"{known:14}", *size, unit.name]))
    return lines


def is_stored(experiment: Experiment, out: Path, quick: bool = False) -> bool:
    """Whether `out` has the units of this size that the analysis needs, and at least one."""
    units = experiment.units(quick)
    states = [store.condition(out / experiment.name, unit) for unit in units]
    return "stored" in states and all(
        state == "stored" or (state == "missing" and unit.optional)
        for state, unit in zip(states, units, strict=True)
    )


def count_missing(experiment: Experiment, out: Path, quick: bool = False) -> int:
    """The number of units of this size that have no file in `out`."""
    paths = (store.unit_path(out / experiment.name, unit) for unit in experiment.units(quick))
    return sum(find_table(path) is None for path in paths)


def is_stored_otherwise(experiment: Experiment, out: Path, quick: bool = False) -> bool:
    """Whether `out` has a file of the experiment with another size or other settings."""
    folder = out / experiment.name
    return any(store.condition(folder, unit) == "other" for unit in experiment.units(quick))


def damaged(experiment: Experiment, out: Path, quick: bool = False) -> list[Path]:
    """The files of the experiment in `out` that cannot be read."""
    folder = out / experiment.name
    return [
        store.unit_path(folder, unit)
        for unit in experiment.units(quick)
        if store.condition(folder, unit) == "damaged"
    ]
