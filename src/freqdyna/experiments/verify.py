"""`freqdyna reproduce NAME --verify`: make one stored training again, and compare."""

import random
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

from freqdyna.core.errors import FreqdynaError
from freqdyna.experiments import store
from freqdyna.experiments.base import Experiment, Stored
from freqdyna.experiments.compute import compute
from freqdyna.experiments.trainings import (
    area,
    curves,
    is_of_trainings,
    with_seeds,
)
from freqdyna.results import run_folder
from freqdyna.training.devices import seed_devices
from freqdyna.training.interrupts import InterruptedRun
from freqdyna.training.progress import make_display

LEAST_P = 0.01
"""Below it, two sets of seeds count as different; one comparison in a hundred errs."""
FEWEST = 4
"""Seeds with which the test can tell anything from 30 others."""
SAME = ("device_kind", "machine", "versions")


def verify(experiment: Experiment, out: Path, seeds: int | None, chosen: int | None = None) -> str:
    """Train one unit of `experiment`, drawn at random, again; say how it agrees, or refuse.

    On a CPU of the machine and versions that made it, every return must be equal to the bit.
    Elsewhere (even on GPUs of one kind) and with another number of seeds, rounding leads a seed
    elsewhere, and the areas under the curves are compared by a test.
    """
    if not is_of_trainings(experiment):
        raise FreqdynaError(
            "verify is for experiments that consist of trainings; to check "
            f"{experiment.name}, compute it again in another folder, with --out"
        )
    unit = random.Random(chosen).choice(experiment.units(False))
    before = store.read(out / experiment.name, unit)
    if before is None:
        raise FreqdynaError(
            f"{store.unit_path(out / experiment.name, unit)} is not stored; what the repository "
            "has stored is verified with --out results/reproduce"
        )
    if seeds is not None and seeds < FEWEST:
        raise FreqdynaError(
            f"seeds is {seeds}; to tell trainings apart verify needs {FEWEST} or more"
        )
    again = with_seeds(unit, seeds or unit.settings["seeds"])
    print(f"{experiment.name}: training {unit.name} again, {again.settings['seeds']} seeds")
    with tempfile.TemporaryDirectory() as folder:
        try:
            with make_display() as display:
                compute(again, Path(folder) / experiment.name, display)
        except InterruptedRun:
            raise InterruptedRun("stopped; nothing of the verification is kept") from None
        now = store.read(Path(folder) / experiment.name, again)
    assert now is not None
    return _agreement(unit.name, before, now)


def _agreement(name: str, before: Stored, now: Stored) -> str:
    returns, stored = curves(now)[1], curves(before)[1]
    both = min(len(returns), len(stored))
    equal = float((returns[:both] == stored[:both]).mean())
    facts = run_folder.provenance(seed_devices(2**20))
    same = all(facts[key] == before.provenance[key] for key in SAME)
    if same and facts["device_kind"] == "cpu" and now.settings == before.settings:
        if equal < 1:
            raise FreqdynaError(f"{name}: {1 - equal:.1%} of the returns differ from the stored")
        return f"{name}: all {returns.size} returns are those stored, to the bit"
    p = float(stats.mannwhitneyu(area(now), area(before)).pvalue)
    text = (
        f"{name}: {equal:.0%} of the returns are equal; mean area {np.mean(area(now)):.1f}, "
        f"stored {np.mean(area(before)):.1f}, p = {p:.2g} where rounding may differ"
    )
    if p < LEAST_P:
        raise FreqdynaError(f"{text}: they differ")
    return f"{text}: they agree"
