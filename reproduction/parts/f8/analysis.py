"""The evaluation of F8: states in queue and replay buffer, and where they are dense."""

from functools import partial

import numpy as np

from freqdyna import envs
from freqdyna.envs.walled_square import GOAL_CORNER
from freqdyna.results.chart import Chart, Points
from freqdyna.results.state_map import map_panel
from reproduction.base import Findings, Stored
from reproduction.comparisons import Comparison, judge
from reproduction.parts import maze
from reproduction.parts.f8 import stores
from reproduction.parts.maze import near_holes
from reproduction.readings import judge_each, rule_in_the_maze, table_of, under_all
from reproduction.stored_trainings import left_out, states

STORES = ("queue", "replay")
GOAL_AREA = 0.8
"""The paper says "near the goal area"; here: both coordinates are above this."""


def near_goal(drawn: np.ndarray) -> np.ndarray:
    """The percentage of states of shape (..., states, 2) in the corner around the goal."""
    assert GOAL_AREA < GOAL_CORNER
    return 100 * (drawn > GOAL_AREA).all(-1).mean(-1)


def analyse(units: dict[str, Stored]) -> Findings:
    """States of the median seed under two interpretations; shares near holes and goal under all."""
    found = maze.trainings(units)
    env = envs.make("MazeGridWorld")
    panels = []
    for reading in maze.MAIN:
        for name in maze.BOTH if reading in found else ():
            for store in STORES:
                stored = found[reading][name]
                x, y = states(stored, store)[maze.median_seed(stored)].T
                label = f"{name}: {store}\n{reading}"
                panels.append(map_panel(env, label, [Points(x, y, maze.DOTS)]))
    title = "F8: states at the end, median seed"
    chart = Chart(panels, title, columns=len(STORES) * len(maze.BOTH), panel_size=(4.0, 4.2))
    rows = [["states", "near a hole, mean over seeds", "near the goal, mean over seeds"]]
    long = maze.trainings(units, longer=True)
    shown = found | {f"{reading}; {maze.LONG:,} steps": of for reading, of in long.items()}
    for reading, trainings in shown.items():
        for name in maze.BOTH:
            rows += [_shares(reading, name, trainings[name], store) for store in STORES]
    gathered = judge_each({reading: _comparisons(of) for reading, of in found.items()}, judge)
    by_place = {r: stores.of_places(of) for r, of in found.items()}
    by_value = {r: stores.of_values(of) for r, of in found.items() if stores.has_values(of)}
    rows_judged = sum(map(len, (*by_place.values(), *by_value.values())))
    places, valued = (
        judge_each(group, partial(stores.judge, rows=rows_judged)) for group in (by_place, by_value)
    )
    several = len(found) > 1
    tables = [table_of(valued)] if len(valued) > 1 else []
    tables += [table_of({r: [*gathered[r], *places[r]] for r in found})] if several else []
    return Findings(
        chart,
        under_all(gathered) + under_all(places) + under_all(valued),
        rows,
        (stores.HOW, *((rule_in_the_maze(found),) if several else ())),
        tables,
    )


def _shares(reading: str, name: str, stored: Stored, store: str) -> list[str]:
    drawn, seeds = states(stored, store), left_out(stored)
    label = f"{name}, {store}; {reading}" + (f"; {seeds}" if seeds else "")
    return [label, f"{near_holes(drawn).mean():.1f}%", f"{near_goal(drawn).mean():.1f}%"]


def _comparisons(found: dict[str, Stored]) -> list[Comparison]:
    return [
        Comparison.of(
            "share of the queue near the goal, seeds that learned: Dyna-Value − Dyna-Frequency, "
            "percentage points",
            "above 0 (text)",
            lambda stored: maze.of_learned(stored, near_goal(states(stored, "queue"))),
            found["Dyna-Value"],
            found["Dyna-Frequency"],
        )
    ]
