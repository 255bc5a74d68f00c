"""`freqdyna reproduce NAME`: compute what is not stored yet, then say what it shows."""

from pathlib import Path

from freqdyna.core.errors import FreqdynaError
from freqdyna.experiments import store
from freqdyna.experiments.base import Experiment, Findings, Stored
from freqdyna.experiments.compute import compute, sized_units
from freqdyna.results.draw_matplotlib import draw

FULL, QUICK = Path("runs/reproduce"), Path("runs/reproduce-quick")
"""Where results go unless told otherwise."""
FIGURE = "figure.png"


def reproduce(
    experiment: Experiment,
    out: Path,
    quick: bool = False,
    seeds: int | None = None,
    processes: int = 1,
) -> Findings:
    """Compute the units that `out` lacks, analyse all of them, and draw the figure.

    Results are in the folder `out`/NAME; trainings, which figures share, in `out`/trainings.
    After an interruption the same call goes on. `seeds` is for trainings of another size than the
    paper's, `processes` for several units at a time.
    """
    units = sized_units(experiment, quick, seeds)
    folder = out / experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FreqdynaError(f"out is {str(out)!r}, which cannot be made: {error}") from None
    missing = [unit for unit in units if store.read(folder, unit) is None]
    if not missing:
        print(f"{experiment.name}: analysing what is stored in {out}")
    else:
        size = "under a minute" if quick else experiment.duration
        size = f"{seeds} seeds instead of its own number" if seeds else size
        print(f"{experiment.name}: computing {len(missing)} of {len(units)} parts, {size}")
    if processes > 1 and len(missing) > 1:
        from freqdyna.experiments.parallel import compute_all

        compute_all(experiment.name, [u.name for u in missing], out, quick, seeds, processes)
    else:
        for unit in missing:
            compute(unit, folder)
    findings = analyse(experiment, out, quick, seeds)
    draw(findings.chart).savefig(folder / FIGURE)
    return findings


def analyse(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> Findings:
    """What the stored units show; all of them must be there."""
    return experiment.analyse(stored(experiment, out, quick, seeds))


def stored(
    experiment: Experiment, out: Path, quick: bool = False, seeds: int | None = None
) -> dict[str, Stored]:
    """The stored units by name; a missing one is refused."""
    found = {}
    for unit in sized_units(experiment, quick, seeds):
        one = store.read(out / experiment.name, unit)
        if one is None:
            path = store.unit_path(out / experiment.name, unit)
            raise FreqdynaError(
                f"{path} is missing; compute it with: freqdyna reproduce {experiment.name}"
            )
        found[unit.name] = one
    return found


def is_stored(experiment: Experiment, out: Path, quick: bool = False) -> bool:
    """Whether every unit of this size is in `out`."""
    folder = out / experiment.name
    return all(store.condition(folder, unit) == "stored" for unit in experiment.units(quick))


def is_stored_otherwise(experiment: Experiment, out: Path, quick: bool = False) -> bool:
    """Whether `out` has a file of the experiment that is not of this size and these settings."""
    folder = out / experiment.name
    return any(store.condition(folder, unit) == "other" for unit in experiment.units(quick))


def damaged(experiment: Experiment, out: Path, quick: bool = False) -> list[Path]:
    """The experiment's files in `out` that cannot be read."""
    folder = out / experiment.name
    return [
        store.unit_path(folder, unit)
        for unit in experiment.units(quick)
        if store.condition(folder, unit) == "damaged"
    ]
