"""What F8 shows: states of queue and replay of both algorithms, and where they are dense."""

import numpy as np

from freqdyna import envs
from freqdyna.envs.walled_square import GOAL_CORNER
from freqdyna.experiments import drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.parts.f4.units import by_name
from freqdyna.experiments.parts.f5.analysis import near_holes
from freqdyna.experiments.parts.f8.units import ALGORITHMS
from freqdyna.experiments.trainings import states
from freqdyna.results.plot_snapshots import frame

STORES = ("queue", "replay")
GOAL_AREA = 0.8
"""The paper's words are "near the goal area"; here: both coordinates above this."""


def near_goal(drawn: np.ndarray) -> np.ndarray:
    """The share, in percent, of (..., states, 2) in the corner around the goal."""
    assert GOAL_AREA < GOAL_CORNER
    return 100 * (drawn > GOAL_AREA).all(-1).mean(-1)


def analyse(units: dict[str, Stored]) -> Findings:
    """Four scatters of the first seed; shares of all seeds near holes and goal."""
    found = by_name(units)
    env = envs.make("MazeGridWorld")
    figure = drawing.panels(2, 2, width=4.4, height=4.4)
    panels = figure.subplots(2, 2)
    rows = [["states", "near a hole, mean over seeds", "near the goal, mean over seeds"]]
    for row, name in zip(panels, ALGORITHMS, strict=True):
        for panel, store in zip(row, STORES, strict=True):
            drawn = states(found[name], store)
            frame(panel, env)
            panel.scatter(*drawn[0].T, s=3, color="tab:blue", linewidths=0)
            panel.set_title(f"{name}: {store}")
            holes, goal = near_holes(drawn).mean(), near_goal(drawn).mean()
            rows.append([f"{name}, {store}", f"{holes:.1f}%", f"{goal:.1f}%"])
    figure.suptitle("F8: states at the end, first seed")
    goal = {name: near_goal(states(found[name], "queue")) for name in ALGORITHMS}
    claims = judge(
        [
            Comparison(
                "share of the queue near the goal: Dyna-Value − Dyna-Frequency, points",
                "above 0 (text)",
                goal["Dyna-Value"],
                goal["Dyna-Frequency"],
            )
        ]
    )
    return Findings(figure, claims, rows)
