"""The evaluation of F6: each half of g on its own, and how often its direction vanishes."""

import numpy as np

from freqdyna.results.chart import Chart, Legend
from reproduction.base import Findings, Stored
from reproduction.claims import Claim, Verdict
from reproduction.comparisons import Comparison, judge, mean_with_interval
from reproduction.learning_curves import SHADED, curves_panel, named_curves
from reproduction.parts.f6.units import CAR, FIRST, GRID, WAITING, by_panel
from reproduction.readings import judge_under_all
from reproduction.stored_trainings import area, curves, training_of, unlearned
from reproduction.summary import summary

THRESHOLD = -200.0
COUNTED = "climb_vanished_frequency"
FREQUENT = 5.0
"""Percent of the steps; the paper only says "frequently"."""
Panels = dict[tuple[str, str], dict[str, Stored]]
"""Trainings by algorithm, for each environment and interpretation."""


def vanished(stored: Stored) -> np.ndarray:
    """The share of steps without a direction in climbs of g, in percent, of seeds that learned.

    The value of a seed that never learned is constant, so that no climb of it has a direction.

    Returns:
        The mean over evaluations of each seed that learned, shape (seeds,).

    """
    shares = curves(stored, COUNTED)[1][~unlearned(stored)]
    return 100 * np.nanmean(shares, axis=1)


def is_counted(stored: Stored) -> bool:
    """Whether climbs of g were counted separately; older trainings have only one number."""
    return COUNTED in training_of(stored).metrics


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each environment and interpretation; tests of the paper's explanation."""
    found = by_panel(units)
    panels = [
        curves_panel(
            f"{env}, 10 updates {reading}",
            named_curves(trainings),
            legend=Legend() if trainings is next(iter(found.values())) else None,
        )
        for (env, reading), trainings in found.items()
    ]
    seeds = min(len(training_of(stored).seeds) for of in found.values() for stored in of.values())
    chart = Chart(panels, f"F6: only one half of g, at least {seeds} seeds", SHADED)
    return Findings(chart, _claims(found), _table(found), _notes(found))


def _table(found: Panels) -> list[list[str]]:
    every = {
        f"{name}, {env}, updates {reading}": stored
        for (env, reading), trainings in found.items()
        for name, stored in trainings.items()
    }
    table = summary(every, THRESHOLD)
    table[0] += ["climbing steps without a direction", "of climbs of g, seeds that learned"]
    for row, stored in zip(table[1:], every.values(), strict=True):
        pooled = 100 * np.nanmean(curves(stored, "climb_vanished")[1], axis=1)
        apart = mean_with_interval(vanished(stored), 1, "%") if is_counted(stored) else "unknown"
        row += [mean_with_interval(pooled, 1, "%"), apart]
    return table


def _claims(found: Panels) -> list[Claim]:
    """All claims, corrected for the number of all comparisons of the figure."""
    alone = [*_on_grid(found), *_of_directions(found)]
    on_car = {
        reading: _on_car(trainings) for (env, reading), trainings in found.items() if env == CAR
    }
    every = [one for group in on_car.values() for one in group]
    judged = judge([*alone, *every])[: len(alone)] + _frequently(found[GRID, WAITING])
    return judged + judge_under_all(on_car, lambda ones: judge([*alone, *ones])[len(alone) :])


def _on_grid(found: Panels) -> list[Comparison]:
    trainings = found[GRID, WAITING]
    return [
        Comparison.of(
            f"Dyna-HessNorm performs poorly on GridWorld: {other} − Dyna-HessNorm, area",
            "above 0",
            area,
            trainings[other],
            trainings["Dyna-HessNorm"],
        )
        for other in ("Dyna-GradNorm", "Dyna-Frequency")
    ]


def _of_directions(found: Panels) -> list[Comparison]:
    """The paper's explanation of why the Hessian norm performs poorly on GridWorld."""
    on_grid, on_car = found[GRID, WAITING], found.get((CAR, WAITING), {})
    hessian = on_grid["Dyna-HessNorm"]
    others = {
        "GridWorld − MountainCar": ("-", on_car.get("Dyna-HessNorm")),
        "Dyna-HessNorm − Dyna-GradNorm": ("above 0 (for the Hessian)", on_grid["Dyna-GradNorm"]),
    }
    where = {
        "GridWorld − MountainCar": "climbs of ‖H_V‖²",
        "Dyna-HessNorm − Dyna-GradNorm": "climbs of their half of g on GridWorld",
    }
    return [
        Comparison.of(
            f"steps without a direction in {where[which]}, seeds that learned: {which}, "
            "percentage points",
            paper,
            vanished,
            hessian,
            other,
        )
        for which, (paper, other) in others.items()
        if other is not None and is_counted(other) and is_counted(hessian)
    ]


def _frequently(on_grid: dict[str, Stored]) -> list[Claim]:
    """What the paper says in words: that the direction is frequently zero."""
    stored = on_grid["Dyna-HessNorm"]
    if not is_counted(stored):
        return []
    shares = vanished(stored)
    often = int((shares > FREQUENT).sum())
    ours = (
        f"median seed {np.median(shares):.2f}%, mean {shares.mean():.1f}%; above {FREQUENT:g}% in "
        f"{often} of {len(shares)} seeds"
    )
    verdict: Verdict = "holds" if 2 * often > len(shares) else "does not hold"
    what = "steps without a direction in climbs of ‖H_V‖² on GridWorld, seeds that learned"
    return [Claim(what, "frequently", ours, "", verdict, "frequent")]


def _on_car(trainings: dict[str, Stored]) -> list[Comparison]:
    return [
        Comparison.of(
            f"{name} − Dyna-Frequency on MountainCar, area",
            "-",  # "slightly better performance", but the text does not say than what
            area,
            trainings[name],
            trainings["Dyna-Frequency"],
        )
        for name in ("Dyna-GradNorm", "Dyna-HessNorm")
    ]


def _notes(found: Panels) -> list[str]:
    notes = [
        "On GridWorld, updates begin after the warm-up, so that it is compared with trainings on "
        f"MountainCar that wait, too. Where MountainCar has two numbers, they are for updates "
        f"{FIRST} and {WAITING}.",
        "A direction shorter than 1e-5 counts as vanished. Seeds learned if their final return is "
        "above −1500. The value of the others is constant, so that climbs of V have no direction "
        "either: they are left out of the comparisons of directions.",
        _where_it_vanishes(found[GRID, WAITING]["Dyna-HessNorm"]),
    ]
    trainings = [stored for of in found.values() for stored in of.values()]
    if not all(map(is_counted, trainings)):
        notes.append(
            "'unknown': the training was stored before climbs of g and of V were counted "
            "separately, and cannot be compared by them."
        )
    return notes


def _where_it_vanishes(stored: Stored) -> str:
    """Whether directions vanish because the learned value is smooth, or because it is constant."""
    lost = unlearned(stored)
    parts = []
    names = {"climb_vanished": "all climbs", COUNTED: "of ‖H_V‖²", "climb_vanished_value": "of V"}
    for metric, what in names.items():
        if metric not in training_of(stored).metrics:
            continue
        share = 100 * np.nanmean(curves(stored, metric)[1], axis=1)
        means = (f"{share[of].mean():.1f}%" if of.any() else "none" for of in (lost, ~lost))
        parts.append(f"{what} {' and '.join(means)}")
    return (
        "Climbing steps without a direction of Dyna-HessNorm on GridWorld, for the "
        f"{lost.sum()} seeds that end below −1500 and the {(~lost).sum()} others: "
        f"{'; '.join(parts)}."
    )
