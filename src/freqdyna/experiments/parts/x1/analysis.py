"""What X1 shows: whether V + g and V·g do worse than the paper's mix of climbs."""

from freqdyna.experiments import drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.parts.x1.units import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, curves

THRESHOLD = -200.0


def analyse(units: dict[str, Stored]) -> Findings:
    """One panel; each combination against Dyna-Frequency."""
    found = by_name(units)
    figure = drawing.panels(1, 1, width=6.5, height=4.5)
    panel = figure.subplots()
    for name, stored in found.items():
        drawing.learning_curve(panel, *curves(stored), name)
    drawing.finish(panel, "MountainCar, 10 updates", "environment steps", "return")
    panel.legend(frameon=False)
    seeds = len(area(found["Dyna-Frequency"]))
    figure.suptitle(f"X1: V + g and V·g, {seeds} seeds, shaded: 95% interval of the mean")
    claims = judge(
        [
            Comparison(
                f"{other} does not work well: Dyna-Frequency − {other}, area",
                "above 0",
                area(found["Dyna-Frequency"]),
                area(found[other]),
            )
            for other in ("Dyna-V+g", "Dyna-V·g")
        ]
    )
    return Findings(figure, claims, summary(found, THRESHOLD))
