"""The evaluation of F6: each half of g on its own, and how often its direction vanishes."""

import numpy as np

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge, mean_with_interval
from freqdyna.experiments.learning_curves import SHADED, environment_panels
from freqdyna.experiments.parts.f6.units import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, curves, training_of, unlearned
from freqdyna.results.chart import Chart

THRESHOLD = -200.0


def vanished(stored: Stored) -> np.ndarray:
    """The share of climbing steps without a direction, in percent, shape (seeds,)."""
    return 100 * np.nanmean(curves(stored, "climb_vanished")[1], axis=1)


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each environment; tests of the paper's explanation."""
    found = by_name(units)
    environments = list(dict.fromkeys(env for env, _ in found))
    seeds = len(training_of(next(iter(found.values()))).seeds)
    panels = environment_panels(found, updates=10)
    chart = Chart(panels, f"F6: only one half of g, {seeds} seeds", SHADED)
    table = summary({f"{name}, {env}": s for (env, name), s in found.items()}, THRESHOLD)
    table[0] = [*table[0], "climbing steps without a direction"]
    for row, stored in zip(table[1:], found.values(), strict=True):
        row.append(mean_with_interval(vanished(stored), 1, "%"))
    claims = judge(
        [
            Comparison.of(
                f"Dyna-HessNorm performs poorly on GridWorld: {other} − Dyna-HessNorm, area",
                "above 0",
                area,
                found["GridWorld", other],
                found["GridWorld", "Dyna-HessNorm"],
            )
            for other in ("Dyna-GradNorm", "Dyna-Frequency")
        ]
        + (_of_directions(found) if len(environments) > 1 else [])
        + [
            Comparison.of(
                f"{name} − Dyna-Frequency on MountainCar, area",
                "-",  # "slightly better performance", but the text does not say than what
                area,
                found["MountainCar-v0", name],
                found["MountainCar-v0", "Dyna-Frequency"],
            )
            for name in ("Dyna-GradNorm", "Dyna-HessNorm")
        ]
    )
    note = (
        "A direction shorter than 1e-5 counts as vanished. The share refers to all climbing steps "
        "of Dyna-HessNorm, half of whose climbs follow V."
    )
    return Findings(chart, claims, table, (note, _where_it_vanishes(found)))


def _of_directions(found: dict[tuple[str, str], Stored]) -> list[Comparison]:
    """The paper's explanation of why the Hessian norm performs poorly on GridWorld."""
    hessian = found["GridWorld", "Dyna-HessNorm"]
    return [
        Comparison.of(
            "steps without a direction, Dyna-HessNorm: GridWorld − MountainCar, percentage points",
            "above 0 (frequently zero)",
            vanished,
            hessian,
            found["MountainCar-v0", "Dyna-HessNorm"],
        ),
        Comparison.of(
            "steps without a direction, GridWorld: Dyna-HessNorm − Dyna-GradNorm, percentage "
            "points",
            "above 0 (for the Hessian)",
            vanished,
            hessian,
            found["GridWorld", "Dyna-GradNorm"],
        ),
    ]


def _where_it_vanishes(found: dict[tuple[str, str], Stored]) -> str:
    """Whether directions vanish because the learned value is smooth, or because it is constant."""
    stored = found["GridWorld", "Dyna-HessNorm"]
    lost, share = unlearned(stored), vanished(stored)
    parts = (
        f"{share[of].mean():.1f}% for the {of.sum()} seeds that end {where} −1500"
        for of, where in ((lost, "below"), (~lost, "above"))
        if of.any()
    )
    return f"Climbing steps without a direction of Dyna-HessNorm on GridWorld: {', '.join(parts)}."
