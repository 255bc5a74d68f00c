"""`freqdyna reproduce NAME --verify`: repeat one stored training, and compare."""

import random
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.provenance import provenance
from freqdyna.training.engines import seed_devices
from freqdyna.training.interrupts import InterruptedRun
from freqdyna.training.progress import Display
from reproduction import store
from reproduction.base import Experiment, Stored
from reproduction.compute import compute
from reproduction.stored_trainings import area, left_out, training_of
from reproduction.trainings import is_of_trainings, with_seeds

LEAST_P = 0.01
"""Two sets of seeds count as different if p is lower; one comparison in a hundred is wrong."""
FEWEST = 4
"""The minimum number of seeds for which the test can detect a difference from 30 others."""
SAME = ("device_kind", "machine", "versions")


def verify(experiment: Experiment, out: Path, seeds: int | None, chosen: int | None = None) -> str:
    """Repeat one randomly chosen training of an experiment, and compare.

    On the same kind of CPU with the same versions, the returns must be bit-identical. Otherwise
    (even on GPUs of one kind), or with another number of seeds, rounding changes the course of a
    seed, and the areas under the curves are compared with a statistical test.

    Args:
        experiment: The experiment.
        out: The folder of the stored results.
        seeds: The number of seeds; None for that of the stored training.
        chosen: A random seed for the choice of the training.

    Returns:
        A sentence on how well they agree.

    Raises:
        FreqdynaError: If they differ.

    """
    if not is_of_trainings(experiment):
        raise FreqdynaError(
            "verify is for experiments that consist of trainings; to check "
            f"{experiment.name}, compute it again in another folder, with --out"
        )
    own = out / experiment.name
    units = [
        unit
        for unit in experiment.units(False)
        if not (unit.optional and store.condition(own, unit) == "missing")
    ]
    if not units:
        raise FreqdynaError(
            f"out is {str(out)!r}, which has no training of {experiment.name}; to verify the "
            "results in the repository, use --out results/reproduce"
        )
    unit = random.Random(chosen).choice(units)
    before = store.read(own, unit)
    if before is None:
        raise FreqdynaError(
            f"{store.unit_path(own, unit)} is not stored; to verify the results "
            "in the repository, use --out results/reproduce"
        )
    if seeds is not None and seeds < FEWEST:
        raise FreqdynaError(f"seeds is {seeds}; verify needs {FEWEST} or more to compare trainings")
    again = with_seeds(unit, seeds or before.settings["seeds"])
    print(f"{experiment.name}: training {unit.name} again, {again.settings['seeds']} seeds")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Display() as display:
                compute(again, Path(folder) / experiment.name, display)
        except InterruptedRun:
            raise InterruptedRun("stopped; the verification is discarded") from None
        now = store.read(Path(folder) / experiment.name, again)
    assert now is not None
    return _agreement(unit.name, before, now)


def _agreement(name: str, before: Stored, now: Stored) -> str:
    returns, stored = (training_of(one).returns for one in (now, before))
    both = min(len(returns), len(stored))
    pair = returns[:both], stored[:both]
    equal = float(((pair[0] == pair[1]) | np.isnan(pair).all(axis=0)).mean())
    facts = provenance(seed_devices(2**20))
    same = all(facts[key] == before.provenance.get(key) for key in SAME)
    if same and facts["device_kind"] == "cpu" and now.settings == before.settings:
        if equal < 1:
            raise FreqdynaError(f"{name}: {1 - equal:.1%} of the returns differ from the stored")
        return f"{name}: all {returns.size} returns are bit-identical to the stored ones"
    for one in (now, before):
        complete = training_of(one).complete_seeds
        if not complete.kept.any():
            raise FreqdynaError(f"{name} cannot be compared: {complete.none_left}")
    p = float(stats.mannwhitneyu(area(now), area(before)).pvalue)
    text = (
        f"{name}: {equal:.0%} of the returns are equal; mean area {np.mean(area(now)):.1f}, "
        f"stored {np.mean(area(before)):.1f}, p = {p:.2g} where rounding may differ"
    )
    seeds = left_out(now, before)
    text += f" ({seeds})" if seeds else ""
    if p < LEAST_P:
        raise FreqdynaError(f"{text}: they differ")
    return f"{text}: they agree"
