"""The evaluation of F4: the maze, learning curves, and the spread over seeds."""

import numpy as np

from freqdyna import envs
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import (
    Comparison,
    judge,
    judge_spread,
    mean_with_interval,
)
from freqdyna.experiments.learning_curves import SHADED, curves_panel, named_curves
from freqdyna.experiments.parts.maze import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, final, states, training_of, unlearned
from freqdyna.results.chart import Chart, Legend
from freqdyna.results.state_map import map_panel

THRESHOLD = -200.0
LAST_WALL = 0.8
"""The goal room is beyond this x."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Two panels: the domain and the curves."""
    found = by_name(units)
    panels = [
        map_panel(envs.make("MazeGridWorld"), "MazeGridWorld"),
        curves_panel("30 updates", named_curves(found), legend=Legend("lower right")),
    ]
    frequency, value = found["Dyna-Frequency"], found["Dyna-Value"]
    seeds = len(training_of(frequency).seeds)
    title = f"F4: MazeGridWorld, {seeds} seeds"
    chart = Chart(panels, title, SHADED, column_widths=(0.8, 1.2))
    measures = (("area", area), ("final return", final))
    claims = judge_spread(
        [
            Comparison.of(
                f"standard deviation over seeds, {what}: Dyna-Frequency / Dyna-Value",
                "below 1 (variance)",
                measure,
                frequency,
                value,
            )
            for what, measure in measures
        ]
    )
    claims += judge(
        [
            Comparison.of(
                f"Dyna-Frequency − Dyna-Value, {what}",
                "-",  # the text compares only the variance, and the figure's file is blank
                measure,
                frequency,
                value,
            )
            for what, measure in measures
        ]
        + [
            Comparison.of(
                f"Dyna-Frequency, learned model − {name}, area",
                "-",
                area,
                found["Dyna-Frequency, learned model"],
                found[name],
            )
            for name in ("Dyna-Frequency", "Dyna-Value")
        ]
    )
    notes = (_who_learned(frequency, value), _where_they_were(frequency, value))
    return Findings(chart, claims, summary(found, THRESHOLD), notes)


def _who_learned(frequency: Stored, value: Stored) -> str:
    """How many seeds do not learn, and the speed of those that do."""
    lost = [int(unlearned(stored).sum()) for stored in (frequency, value)]
    others = [mean_with_interval(area(stored)[~unlearned(stored)]) for stored in (frequency, value)]
    return (
        f"{lost[0]} seeds of Dyna-Frequency and {lost[1]} of Dyna-Value end below −1500; the mean "
        f"area of the others is {others[0]} and {others[1]}."
    )


def _where_they_were(*both: Stored) -> str:
    lost = np.concatenate([unlearned(stored) for stored in both])
    there = np.concatenate([states(stored, "replay")[..., 0] > LAST_WALL for stored in both])
    share = 100 * there.mean(axis=1)
    below, above = (mean_with_interval(share[of], 1) for of in (lost, ~lost))
    return (
        f"States in the goal room: {below}% of the replay buffers of seeds that "
        f"end below −1500, and {above}% of those of the other seeds."
    )
