"""The evaluation of X1: whether V + g and V·g perform worse than Dyna-Frequency."""

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.learning_curves import SHADED, curves_panel, named_curves
from freqdyna.experiments.parts.x1.units import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, training_of
from freqdyna.results.chart import Chart, Legend

THRESHOLD = -200.0


def analyse(units: dict[str, Stored]) -> Findings:
    """One panel; each combination compared with Dyna-Frequency."""
    found = by_name(units)
    panel = curves_panel("MountainCar, 10 updates", named_curves(found), legend=Legend())
    seeds = len(training_of(found["Dyna-Frequency"]).seeds)
    chart = Chart([panel], f"X1: V + g and V·g, {seeds} seeds", SHADED, panel_size=(6.5, 4.5))
    claims = judge(
        [
            Comparison.of(
                f"{other} does not work well: Dyna-Frequency − {other}, area",
                "above 0",
                area,
                found["Dyna-Frequency"],
                found[other],
            )
            for other in ("Dyna-V+g", "Dyna-V·g")
        ]
    )
    return Findings(chart, claims, summary(found, THRESHOLD))
