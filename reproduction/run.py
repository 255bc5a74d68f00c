"""The parts of the paper: compute what is not stored, analyse, draw, and repeat a training."""

import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
from scipy import stats

from freqdyna.core.errors import FreqdynaError, RunFailedError, unknown_name
from freqdyna.results.chart import Chart, Panel
from freqdyna.results.draw import draw, save_figure
from freqdyna.results.folder import provenance
from reproduction import a1, b, d, e, f1, f2, f3, f6, f7, maze, p, r, s, store, t1, u
from reproduction.study import Findings, Part, Stored, Unit, area, curves_of, training_of

PARTS: tuple[Part, ...] = (
    *(e.E1, e.E2, t1.PART, u.PART, f1.PART, f2.PART, f3.F3, maze.F4, maze.F5, f6.PART, f7.PART),
    *(maze.F8, d.PART, a1.PART, f3.X1, s.PART, r.PART, b.PART, p.PART),
)
"""All parts, in the order of the paper; our own checks last."""
ELSEWHERE = {
    "A2": "HC-Dyna (Dyna-Value): freqdyna train --algorithm dyna-value",
    "A3": "frequency-based search-control: freqdyna train --algorithm dyna-frequency",
    "X2": "weights in g: settings gradient_weight and hessian_weight",
    "X3": "future work: combined search-controls: examples/mixture.py and examples/bandit.py",
}
"""What the paper has and the library implements, without an experiment."""
STORED, QUICK = Path("results/reproduction"), Path("runs/reproduction-quick")
"""The default folders of results."""
FIGURES = Path("docs/images/reproduction")
"""The figures of the results in STORED, which pages show."""
FEWEST = 2
"""The smallest number of seeds of which a spread is known."""
LEAST_P = 0.01
"""Two sets of seeds count as different if p is lower; one comparison in a hundred is wrong."""
SAME = ("device_kind", "machine", "versions")


def find(name: str) -> Part:
    """The part of this name."""
    for part in PARTS:
        if part.name == name:
            return part
    if name in ELSEWHERE:
        raise FreqdynaError(f"{name} has no experiment; {ELSEWHERE[name]}")
    known = [part.name for part in PARTS]
    raise unknown_name("part of the paper", name, ["list", "all", "overview", "page", *known])


def stored(part: Part, folder: Path, quick: bool = False) -> dict[str, Stored]:
    """The units of a part that a folder has, by name."""
    by_name = {unit.name: store.find(folder, unit) for unit in part.units(quick)}
    return {name: unit for name, unit in by_name.items() if unit is not None}


def reproduce(part: Part, folder: Path, quick: bool, processes: int | None) -> Findings:
    """Compute the units that are not stored, analyse all of them, and draw the figure.

    After an interruption, the same call resumes.
    """
    existing, units = stored(part, folder, quick), part.units(quick)
    missing = [unit for unit in units if unit.name not in existing]
    if missing:
        size = "less than a minute" if quick else f"{part.duration} on 2 cores"
        print(f"{part.name}: computing {len(missing)} of {len(units)} units in {folder}, {size}")
        compute(part, missing, folder, processes)
    else:
        print(f"{part.name}: analysing the results in {folder}")
    findings = analyse(part, stored(part, folder, quick))
    save_figure(draw(findings.chart), figure_of(folder, part.name))
    return findings


def figure_of(folder: Path, name: str) -> Path:
    """The figure of a part."""
    return (FIGURES if folder == STORED else folder) / f"{name}.png"


def compute(part: Part, units: list[Unit], folder: Path, processes: int | None) -> None:
    """Compute units and add them to the file of their part."""
    trainings = [unit for unit in units if unit.table is None]
    new = [_table(unit) for unit in units if unit.table is not None]
    scratch = folder / f"{part.name}.unfinished"
    if trainings:
        new += train(trainings, scratch, processes, part.name)
    path = folder / f"{part.name}.parquet"
    earlier = [store.find_in(path, unit) for quick in (False, True) for unit in part.units(quick)]
    known = {one.unit.name for one in new}
    kept = [one for one in earlier if one is not None and one.unit.name not in known]
    store.write(path, [*kept, *new])
    shutil.rmtree(scratch, ignore_errors=True)


def _table(unit: Unit) -> Stored:
    """Compute a small table in this process."""
    assert unit.table is not None
    began = time.monotonic()
    columns = unit.table()
    seconds = round(time.monotonic() - began, 1)
    return Stored(unit, columns, provenance(jax.devices(), seconds=seconds))


def train(units: Sequence[Unit], scratch: Path, processes: int | None, title: str) -> list[Stored]:
    """Train what is not finished in the scratch folder, several at a time, and load everything."""
    from freqdyna.sweeps import execute  # here, because analyses need no agents
    from freqdyna.sweeps.storage import Storage
    from freqdyna.sweeps.sweep import SweepUnit
    from freqdyna.training.engines import Local

    storage = Storage(str(scratch))
    sweep_units = [SweepUnit(unit.config) for unit in units]
    with storage.lock():
        status = execute.compute(sweep_units, storage, Local(processes), title=title)
    if status.failed:
        name, error = next(iter(status.failed.items()))
        raise RunFailedError(
            f"{len(status.failed)} of {len(units)} trainings failed; {name}: {error}"
        )
    trained = []
    for unit, sweep_unit in zip(units, sweep_units, strict=True):
        record = execute.load(storage, sweep_unit.name)
        trained.append(Stored(unit, (unit.keep or curves_of)(record), record.provenance))
    return trained


def analyse(part: Part, units: dict[str, Stored]) -> Findings:
    """Analyse stored units, and say which seeds are left out.

    If a training has fewer than FEWEST left, the part is not analysed, and the findings say so.
    """
    seeds_of = {n: one.record.complete_seeds for n, one in units.items() if one.record is not None}
    incomplete = {name: seeds for name, seeds in seeds_of.items() if seeds.left_out}
    listed = "; ".join(f"{name}: {seeds.text('seeds')}" for name, seeds in incomplete.items())
    if any(seeds.kept.sum() < FEWEST for seeds in incomplete.values()):
        chart = Chart([Panel(f"{part.name}: not analysed")])
        return Findings(chart, (), notes=(f"Not analysed, for want of seeds: {listed}.",))
    findings = part.analyse(units)
    note = (
        "Seeds that diverged or stopped are left out of every statistic, which favours an unstable "
        f"method. {listed}."
    )
    return replace(findings, notes=(*findings.notes, note)) if incomplete else findings


def verify(part: Part, folder: Path, seeds: int, processes: int | None) -> str:
    """Train one randomly chosen stored training of a part again, and say how well they agree.

    On the same kind of CPU with the same versions and seeds, the returns must be bit-identical.
    Otherwise rounding changes the course of a seed, and areas under the curves are compared with a
    statistical test.
    """
    curves = [one for one in stored(part, folder).values() if one.record is not None]
    if not curves:
        raise FreqdynaError(
            f"{part.name} has no stored learning curves in {folder}; to check it, compute it again "
            "in another folder, with --out"
        )
    before = random.choice(curves)
    name, number = before.unit.name, min(seeds, before.unit.config.seeds)
    again = replace(before.unit, settings=before.settings | {"seeds": number})
    print(f"{part.name}: training {name} again, {number} seeds")
    with tempfile.TemporaryDirectory() as scratch:
        (now,) = train([again], Path(scratch), processes, part.name)
    returns, earlier = training_of(now).returns, training_of(before).returns[:number]
    equal = float(((returns == earlier) | (np.isnan(returns) & np.isnan(earlier))).mean())
    same_machine = all(now.provenance[key] == before.provenance.get(key) for key in SAME)
    if same_machine and now.provenance["device_kind"] == "cpu" and number == len(earlier):
        differ, text = equal < 1, f"{name}: {equal:.1%} of {returns.size} returns are bit-identical"
    else:
        p = float(stats.mannwhitneyu(area(now), area(before)).pvalue)
        differ, means = p < LEAST_P, [f"{np.mean(area(one)):.1f}" for one in (now, before)]
        text = (
            f"{name}: {equal:.0%} of the returns are equal; mean area {means[0]}, stored "
            f"{means[1]}, p = {p:.2g} where rounding may differ"
        )
    if differ:
        raise FreqdynaError(f"{text}: they differ")
    return f"{text}: they agree"
