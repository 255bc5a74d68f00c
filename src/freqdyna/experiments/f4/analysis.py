"""What F4 shows: the maze, learning curves on it, and how much seeds differ."""

from freqdyna import envs
from freqdyna.experiments import drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge, less_spread
from freqdyna.experiments.f4.sweep import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, curves, final
from freqdyna.results.plot_snapshots import frame

THRESHOLD = -200.0


def analyse(units: dict[str, Stored]) -> Findings:
    """Two panels: the domain and the curves."""
    found = by_name(units)
    figure = drawing.panels(1, 2)
    domain, panel = figure.subplots(1, 2, width_ratios=(0.8, 1.2))
    frame(domain, envs.make("MazeGridWorld"))
    domain.set_title("MazeGridWorld")
    for name, stored in found.items():
        drawing.learning_curve(panel, *curves(stored), name)
    drawing.finish(panel, "30 updates", "environment steps", "return")
    panel.legend(frameon=False, loc="lower right")
    frequency, value = found["Dyna-Frequency"], found["Dyna-Value"]
    seeds = len(area(frequency))
    figure.suptitle(f"F4: MazeGridWorld, {seeds} seeds, shaded: 95% interval of the mean")
    measures = (("area", area), ("final return", final))
    claims = [
        less_spread(
            f"standard deviation over seeds, {what}: Dyna-Frequency by Dyna-Value",
            "below 1 (variance)",
            measure(frequency),
            measure(value),
        )
        for what, measure in measures
    ]
    claims += judge(
        [
            Comparison(
                f"Dyna-Frequency − Dyna-Value, {what}",
                "above 0 (figure)",
                measure(frequency),
                measure(value),
            )
            for what, measure in measures
        ]
    )
    return Findings(figure, claims, summary(found, THRESHOLD))
