"""F6: climbing g with only the gradient term, with only the Hessian term, and with both.

On MountainCar under both interpretations of when updates begin, on GridWorld after the warm-up.
"""

from typing import Any

import numpy as np

from freqdyna.results.chart import Chart
from reproduction import comparisons, study
from reproduction.claims import Claim, Statement, Verdict
from reproduction.comparisons import WHEN_UPDATES_BEGIN, Comparison, mean_with_interval
from reproduction.curves import SHADED, curves_panels
from reproduction.study import Findings, Part, Stored, Unit, area, curves, training

POOR = Statement("GridWorld: climbing the Hessian norm performs poorly", main=True)
FREQUENTLY = Statement("GridWorld: climbs of the Hessian norm frequently have no direction")
MORE_ON_GRID = Statement(
    "climbs of the Hessian norm have no direction more often on GridWorld than on MountainCar"
)
MORE_WITH_HESSIAN = Statement(
    "GridWorld: climbs have no direction more often with the Hessian norm than with the gradient "
    "norm"
)
ONE_NORM_BETTER = Statement("MountainCar: climbing one of the norms is better than climbing g")

CAR, GRID = "MountainCar-v0", "GridWorld"
BOTH, GRADIENT, HESSIAN = "Dyna-Frequency", "Dyna-GradNorm", "Dyna-HessNorm"
ALGORITHMS = {BOTH: "dyna-frequency", GRADIENT: "dyna-gradnorm", HESSIAN: "dyna-hessnorm"}
FIRST, WAITING = WHEN_UPDATES_BEGIN
PANELS = ((CAR, FIRST), (CAR, WAITING), (GRID, WAITING))
"""Environments, and when updates begin in them."""
THRESHOLD = -200.0
OF_G = "climb_vanished_frequency"
"""The share of steps without a direction in climbs of g alone."""
FREQUENT = 5.0
"""Percent of the steps; the paper only says "frequently"."""
NOTES = (
    "On GridWorld, updates begin after the warm-up, so that it is compared with trainings on "
    "MountainCar that wait, too. Where MountainCar has two numbers, they are for updates "
    f"{FIRST} and {WAITING}.",
    "A direction shorter than 1e-5 counts as vanished. Seeds learned if their final return is "
    "above −1500. The value of the others is constant, so that climbs of V have no direction "
    "either: they are left out of the comparisons of directions.",
    "'not counted': in this training, climbs of g and of V were not counted separately.",
)
Panels = dict[tuple[str, str], dict[str, Stored]]
"""Trainings by algorithm, for each environment and interpretation."""


def settings(panel: tuple[str, str], name: str) -> dict[str, Any]:
    """One curve of the figure; those of Dyna-Frequency on MountainCar are cells of F3."""
    env, interpretation = panel
    of_car = {"env.reward_noise": 0.0, **WHEN_UPDATES_BEGIN[interpretation]} if env == CAR else {}
    return {"env": env, "algorithm": ALGORITHMS[name], "planning_steps": 10, **of_car}


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has those of GridWorld."""
    return [
        training(quick, **settings(panel, name))
        for panel in (PANELS[-1:] if quick else PANELS)
        for name in ALGORITHMS
    ]


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each environment and interpretation; tests of the paper's explanation."""
    runs = study.grouped(units, PANELS, ALGORITHMS, settings)
    panels = curves_panels({f"{env}, 10 updates {i}": of for (env, i), of in runs.items()})
    seeds = min(
        len(study.training_of(stored).seeds) for of in runs.values() for stored in of.values()
    )
    chart = Chart(panels, f"F6: only one half of g, at least {seeds} seeds, {SHADED}")
    further = [_vanished_if_lost(runs[GRID, WAITING][HESSIAN])]
    return Findings(chart, _claims(runs), _table(runs), NOTES, further)


def vanished(stored: Stored) -> np.ndarray:
    """The percentage of steps without a direction in climbs of g, of each seed that learned.

    The value of a seed that never learned is constant, so that no climb of it has a direction.
    """
    shares = curves(stored, OF_G)[1][~study.unlearned(stored)]
    return 100 * np.nanmean(shares, axis=1)


def _table(runs: Panels) -> list[list[str]]:
    every = {
        f"{name}, {env}, updates {interpretation}": stored
        for (env, interpretation), trainings in runs.items()
        for name, stored in trainings.items()
    }
    table = comparisons.summary(every, THRESHOLD)
    table[0] += ["climbing steps without a direction", "of climbs of g, seeds that learned"]
    for row, stored in zip(table[1:], every.values(), strict=True):
        pooled = 100 * np.nanmean(curves(stored, "climb_vanished")[1], axis=1)
        counted = OF_G in study.training_of(stored).metrics
        of_g = mean_with_interval(vanished(stored), 1, "%") if counted else "not counted"
        row += [mean_with_interval(pooled, 1, "%"), of_g]
    return table


def _claims(runs: Panels) -> list[Claim]:
    """All claims, corrected for the number of all comparisons of the figure."""
    on_grid, on_car = runs[GRID, WAITING], runs.get((CAR, WAITING))
    poor = "Dyna-HessNorm performs poorly on GridWorld: {} − Dyna-HessNorm, area"
    alone = [
        Comparison.of(POOR, poor.format(other), "above 0", area, on_grid[other], on_grid[HESSIAN])
        for other in (GRADIENT, BOTH)
    ]
    steps = "steps without a direction in climbs of"
    hessian, paper = on_grid[HESSIAN], "above 0 (for the Hessian)"
    if on_car:
        what = f"{steps} ‖H_V‖², seeds that learned: GridWorld − MountainCar, percentage points"
        alone.append(Comparison.of(MORE_ON_GRID, what, "-", vanished, hessian, on_car[HESSIAN]))
    what = (
        f"{steps} their half of g on GridWorld, seeds that learned: Dyna-HessNorm − Dyna-GradNorm, "
        "percentage points"
    )
    gradient = on_grid[GRADIENT]
    alone.append(Comparison.of(MORE_WITH_HESSIAN, what, paper, vanished, hessian, gradient))
    better = "{} − Dyna-Frequency on MountainCar, area"
    # "slightly better performance", but the text does not say than what
    halves = {
        interpretation: [
            Comparison.of(ONE_NORM_BETTER, better.format(name), "-", area, of[name], of[BOTH])
            for name in (GRADIENT, HESSIAN)
        ]
        for (env, interpretation), of in runs.items()
        if env == CAR
    }
    judged = comparisons.judge_each({"alone": alone, **halves}, comparisons.judge)
    return [*judged.pop("alone"), _frequently(on_grid[HESSIAN]), *comparisons.under_all(judged)]


def _frequently(stored: Stored) -> Claim:
    """What the paper says in words: that the direction is frequently zero."""
    shares = vanished(stored)
    often = int((shares > FREQUENT).sum())
    ours = (
        f"median seed {np.median(shares):.2f}%, mean {shares.mean():.1f}%; above {FREQUENT:g}% in "
        f"{often} of {len(shares)} seeds"
    )
    verdict: Verdict = "holds" if 2 * often > len(shares) else "does not hold"
    what = "steps without a direction in climbs of ‖H_V‖² on GridWorld, seeds that learned"
    return Claim(FREQUENTLY, what, "frequently", ours, "", verdict, "frequent")


def _vanished_if_lost(stored: Stored) -> list[list[str]]:
    """Climbing steps without a direction of the seeds that did not learn, and of the others."""
    lost = study.unlearned(stored)
    rows = [["Dyna-HessNorm on GridWorld", "seeds", "without a direction", "of ‖H_V‖²", "of V"]]
    for words, seeds in (("end below −1500", lost), ("learned", ~lost)):
        cells = [words, str(seeds.sum())]
        for metric in ("climb_vanished", OF_G, "climb_vanished_value"):
            shares = 100 * np.nanmean(curves(stored, metric)[1][seeds], axis=1)
            cells.append(f"{shares.mean():.1f}%" if len(shares) else "none")
        rows.append(cells)
    return rows


PART = Part("F6", "climbing only the gradient or the Hessian norm", "an hour", units, analyse)
