"""What F6 shows: what each half of g does alone, and how often its direction vanishes."""

import numpy as np

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, interval, judge
from freqdyna.experiments.learning_curves import SHADED, environment_panels
from freqdyna.experiments.parts.f6.units import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, curves, unlearned
from freqdyna.results.chart import Chart

THRESHOLD = -200.0


def vanished(stored: Stored) -> np.ndarray:
    """The share of climbing steps without a direction, in percent, shape (seeds,)."""
    return 100 * np.nanmean(curves(stored, "climb_vanished")[1], axis=1)


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each environment; the paper's explanation tested."""
    found = by_name(units)
    environments = list(dict.fromkeys(env for env, _ in found))
    seeds = len(area(next(iter(found.values()))))
    panels = environment_panels(found, updates=10)
    chart = Chart(panels, f"F6: half of g alone, {seeds} seeds", SHADED)
    table = summary({f"{name}, {env}": s for (env, name), s in found.items()}, THRESHOLD)
    table[0] = [*table[0], "climbing steps without a direction"]
    for row, stored in zip(table[1:], found.values(), strict=True):
        share = vanished(stored)
        low, high = interval(lambda v: v.mean(-1), share)
        row.append(f"{share.mean():.1f}% [{low:.1f}, {high:.1f}]")
    claims = judge(
        [
            Comparison(
                f"Dyna-HessNorm does badly on GridWorld: {other} − Dyna-HessNorm, area",
                "above 0",
                area(found["GridWorld", other]),
                area(found["GridWorld", "Dyna-HessNorm"]),
            )
            for other in ("Dyna-GradNorm", "Dyna-Frequency")
        ]
        + (_of_directions(found) if len(environments) > 1 else [])
        + [
            Comparison(
                f"{name} − Dyna-Frequency on MountainCar, area",
                "above 0 (slightly)",
                area(found["MountainCar-v0", name]),
                area(found["MountainCar-v0", "Dyna-Frequency"]),
            )
            for name in ("Dyna-GradNorm", "Dyna-HessNorm")
        ]
    )
    note = (
        "A direction counts as vanished below 1e-5. The share is over all climbing steps of "
        "Dyna-HessNorm, half of whose climbs follow V."
    )
    return Findings(chart, claims, table, (note, _where_it_vanishes(found)))


def _of_directions(found: dict[tuple[str, str], Stored]) -> list[Comparison]:
    """Why the Hessian's norm alone should do badly on GridWorld, by the paper."""
    hessian = vanished(found["GridWorld", "Dyna-HessNorm"])
    return [
        Comparison(
            "steps without a direction, Dyna-HessNorm: GridWorld − MountainCar, points",
            "above 0 (frequently zero)",
            hessian,
            vanished(found["MountainCar-v0", "Dyna-HessNorm"]),
        ),
        Comparison(
            "steps without a direction, GridWorld: Dyna-HessNorm − Dyna-GradNorm, points",
            "above 0 (the Hessian's)",
            hessian,
            vanished(found["GridWorld", "Dyna-GradNorm"]),
        ),
    ]


def _where_it_vanishes(found: dict[tuple[str, str], Stored]) -> str:
    """Whether directions vanish because a learned value is smooth, or because it is constant."""
    stored = found["GridWorld", "Dyna-HessNorm"]
    lost, share = unlearned(stored), vanished(stored)
    parts = (
        f"the {of.sum()} that end {where} −1500 {share[of].mean():.1f}%"
        for of, where in ((lost, "below"), (~lost, "above"))
        if of.any()
    )
    return (
        f"Climbing steps without a direction by seeds of Dyna-HessNorm on GridWorld: "
        f"{', '.join(parts)}."
    )
