"""The evaluation of F4: the maze, learning curves, and the spread over seeds."""

import numpy as np

from freqdyna import envs
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, interval, judge, judge_spread
from freqdyna.experiments.learning_curves import SHADED, curves_panel
from freqdyna.experiments.parts.maze import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, curves, final, states, unlearned
from freqdyna.results.chart import Chart, Legend
from freqdyna.results.state_map import map_panel

THRESHOLD = -200.0
LAST_WALL = 0.8
"""The goal room is beyond this x."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Two panels: the domain and the curves."""
    found = by_name(units)
    trained = {name: curves(stored) for name, stored in found.items()}
    panels = [
        map_panel(envs.make("MazeGridWorld"), "MazeGridWorld"),
        curves_panel("30 updates", trained, legend=Legend("lower right")),
    ]
    frequency, value = found["Dyna-Frequency"], found["Dyna-Value"]
    seeds = len(area(frequency))
    title = f"F4: MazeGridWorld, {seeds} seeds"
    chart = Chart(panels, title, SHADED, column_widths=(0.8, 1.2))
    measures = (("area", area), ("final return", final))
    claims = judge_spread(
        [
            Comparison(
                f"standard deviation over seeds, {what}: Dyna-Frequency / Dyna-Value",
                "below 1 (variance)",
                measure(frequency),
                measure(value),
            )
            for what, measure in measures
        ]
    )
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
        + [
            Comparison(
                f"Dyna-Frequency, learned model − {name}, area",
                "-",
                area(found["Dyna-Frequency, learned model"]),
                area(found[name]),
            )
            for name in ("Dyna-Frequency", "Dyna-Value")
        ]
    )
    notes = (_who_learned(frequency, value), _where_they_were(frequency, value))
    return Findings(chart, claims, summary(found, THRESHOLD), notes)


def _who_learned(frequency: Stored, value: Stored) -> str:
    """How many seeds do not learn, and the speed of those that do."""
    lost = [int(unlearned(stored).sum()) for stored in (frequency, value)]
    others = [_mean(area(stored)[~unlearned(stored)]) for stored in (frequency, value)]
    return (
        f"{lost[0]} seeds of Dyna-Frequency and {lost[1]} of Dyna-Value end below −1500; the mean "
        f"area of the others is {others[0]} and {others[1]}."
    )


def _where_they_were(*both: Stored) -> str:
    lost = np.concatenate([unlearned(stored) for stored in both])
    there = np.concatenate([states(stored, "replay")[..., 0] > LAST_WALL for stored in both])
    share = 100 * there.mean(axis=1)
    return (
        f"States in the goal room: {_mean(share[lost], 1)}% of the replay buffers of seeds that "
        f"end below −1500, and {_mean(share[~lost], 1)}% of those of the other seeds."
    )


def _mean(values: np.ndarray, digits: int = 0) -> str:
    """The mean with its interval; "-" if there are no seeds."""
    if not len(values):
        return "-"
    low, high = interval(lambda v: v.mean(-1), values)
    return f"{values.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
