"""The evaluation of X1: whether V + g and V·g perform worse than Dyna-Frequency."""

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.learning_curves import SHADED, curves_panel, named_curves
from freqdyna.experiments.parts.x1.units import ALGORITHMS, settings
from freqdyna.experiments.readings import (
    RULE,
    WHEN_UPDATES_BEGIN,
    by_reading,
    judge_under_all,
)
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, training_of
from freqdyna.results.chart import Chart, Legend

THRESHOLD = -200.0


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each interpretation; each combination compared with Dyna-Frequency."""
    found = by_reading(units, WHEN_UPDATES_BEGIN, ALGORITHMS, settings)
    panels = [
        curves_panel(
            f"MountainCar, 10 updates {reading}",
            named_curves(trainings),
            legend=Legend() if trainings is next(iter(found.values())) else None,
        )
        for reading, trainings in found.items()
    ]
    every = {f"{n}, updates {r}": one for r, of in found.items() for n, one in of.items()}
    numbers = {n: len(training_of(one).seeds) for of in found.values() for n, one in of.items()}
    seeds = ", ".join(f"{name}: {number}" for name, number in numbers.items())
    chart = Chart(panels, f"X1: V + g and V·g; seeds of {seeds}", SHADED, share_y=True)
    compared = {reading: _comparisons(trainings) for reading, trainings in found.items()}
    claims = judge_under_all(compared, judge)
    return Findings(chart, claims, summary(every, THRESHOLD), (RULE,) if len(found) > 1 else ())


def _comparisons(found: dict[str, Stored]) -> list[Comparison]:
    return [
        Comparison.of(
            f"{other} does not work well: Dyna-Frequency − {other}, area",
            "above 0",
            area,
            found["Dyna-Frequency"],
            found[other],
        )
        for other in ("Dyna-V+g", "Dyna-V·g")
    ]
