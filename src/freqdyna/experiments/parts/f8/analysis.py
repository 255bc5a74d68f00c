"""The evaluation of F8: states in queue and replay buffer, and where they are dense."""

import numpy as np

from freqdyna import envs
from freqdyna.envs.walled_square import GOAL_CORNER
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.parts.f8.units import ALGORITHMS
from freqdyna.experiments.parts.maze import by_name, near_holes
from freqdyna.experiments.trainings import left_out, states
from freqdyna.results.chart import Chart, Points
from freqdyna.results.state_map import map_panel

STORES = ("queue", "replay")
GOAL_AREA = 0.8
"""The paper says "near the goal area"; here: both coordinates are above this."""


def near_goal(drawn: np.ndarray) -> np.ndarray:
    """The percentage of states of shape (..., states, 2) in the corner around the goal."""
    assert GOAL_AREA < GOAL_CORNER
    return 100 * (drawn > GOAL_AREA).all(-1).mean(-1)


def analyse(units: dict[str, Stored]) -> Findings:
    """Four scatter plots of the first seed; shares of all seeds near holes and goal."""
    found = by_name(units)
    env = envs.make("MazeGridWorld")
    panels = []
    rows = [["states", "near a hole, mean over seeds", "near the goal, mean over seeds"]]
    for name in ALGORITHMS:
        for store in STORES:
            drawn = states(found[name], store)
            x, y = drawn[0].T
            panels.append(map_panel(env, f"{name}: {store}", [Points(x, y, "tab:blue")]))
            holes, goal = near_holes(drawn).mean(), near_goal(drawn).mean()
            seeds = left_out(found[name])
            label = f"{name}, {store}" + (f"; {seeds}" if seeds else "")
            rows.append([label, f"{holes:.1f}%", f"{goal:.1f}%"])
    title = "F8: states at the end, first seed"
    chart = Chart(panels, title, columns=len(STORES), panel_size=(4.4, 4.4))
    claims = judge(
        [
            Comparison.of(
                "share of the queue near the goal: Dyna-Value − Dyna-Frequency, percentage points",
                "above 0 (text)",
                lambda stored: near_goal(states(stored, "queue")),
                found["Dyna-Value"],
                found["Dyna-Frequency"],
            )
        ]
    )
    return Findings(chart, claims, rows)
