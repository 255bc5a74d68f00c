"""The evaluation of F4: the maze, learning curves, and the spread over seeds."""

from dataclasses import replace

import numpy as np

from freqdyna import envs
from freqdyna.results.chart import Chart, Dash, Legend, Panel
from freqdyna.results.state_map import map_panel
from reproduction.base import Findings, Stored
from reproduction.comparisons import (
    Comparison,
    judge,
    judge_spread,
    mean_with_interval,
)
from reproduction.learning_curves import (
    SHADED,
    curves_panel,
    learning_curve,
    named_curves,
)
from reproduction.parts import maze
from reproduction.readings import (
    IN_THE_MAZE,
    judge_each,
    rule_in_the_maze,
    table_of,
    under_all,
)
from reproduction.stored_trainings import area, final, states, training_of, unlearned
from reproduction.summary import summary

THRESHOLD = -200.0
LOWEST = -2050.0
"""The lower end of the axis of returns; an episode has at most 2,000 steps."""
LEARNED = "Dyna-Frequency, learned model"
LAST_WALL = 0.8
"""The goal room is beyond this x."""


def analyse(units: dict[str, Stored]) -> Findings:
    """The domain, and curves under each interpretation."""
    found, long = maze.trainings(units), maze.trainings(units, longer=True)
    frequency, value = (found[maze.DEFAULT][name] for name in maze.BOTH)
    is_all = len(found) == len(IN_THE_MAZE)
    drawn = [_panel(reading, trainings) for reading, trainings in found.items()]
    if long:  # at the beginning of the second row
        drawn.insert(len(found) // 2 if is_all else len(found), _long_panel(long))
    if is_all:
        drawn = [replace(one, y=replace(one.y, low=LOWEST, high=0.0)) for one in drawn]
    panels = [map_panel(envs.make("MazeGridWorld"), "MazeGridWorld"), *drawn]
    title = f"F4: MazeGridWorld, 30 updates, {_seeds(units)}"
    columns = len(panels) // 2 if is_all and long else None
    chart = Chart(panels, title, SHADED, columns=columns, panel_size=(4.2, 4.0))
    spreads = judge_each({r: _spreads(of) for r, of in found.items()}, judge_spread)
    compared = {r: _leads(of) for r, of in found.items()}
    compared |= {_longer(r): _leads(of, f"{maze.LONG:,} steps: ") for r, of in long.items()}
    leads = judge_each(compared | {LEARNED: _of_learned_model(found[maze.DEFAULT])}, judge)
    of_learned_model = leads.pop(LEARNED)
    of_long = {r: leads.pop(_longer(r)) for r in long}
    claims = [*under_all(spreads), *under_all(leads), *under_all(of_long), *of_learned_model]
    notes = [_who_learned(frequency, value), _where_they_were(frequency, value)]
    tables = [table_of({r: [*spreads[r], *leads[r]] for r in found})] if len(found) > 1 else []
    notes += [rule_in_the_maze(found)] if len(found) > 1 else []
    if long:
        notes.append(f"Trainings of {maze.LONG:,} steps have the same warm-up as the others.")
    every = {f"{name}; {r}": one for r, of in found.items() for name, one in of.items()}
    for reading, of in long.items():
        every |= {f"{n}; {_longer(reading)}": one for n, one in of.items()}
    return Findings(chart, claims, summary(every, THRESHOLD), notes, tables)


def _seeds(units: dict[str, Stored]) -> str:
    numbers = sorted({len(training_of(stored).seeds) for stored in units.values()}, reverse=True)
    return f"{' or '.join(map(str, numbers))} seeds"


def _panel(reading: str, trainings: dict[str, Stored]) -> Panel:
    legend = Legend("below", columns=3) if reading == maze.DEFAULT else None
    return curves_panel(reading, named_curves(trainings), legend=legend)


def _long_panel(long: dict[str, dict[str, Stored]]) -> Panel:
    """Curves of the longer trainings; those of the second interpretation are dotted."""
    dashes: dict[str, Dash] = dict(zip(maze.MAIN, ("solid", "dotted"), strict=True))
    marks = []
    for reading, trainings in long.items():
        for name, pair in named_curves(trainings).items():
            curve = learning_curve(*pair, f"{name}; {reading}")
            style = replace(curve.style, dash=dashes[reading])
            marks.append(replace(curve, style=style))
    names = "\n".join(f"{dashes[reading]}: {reading}" for reading in long)
    return replace(curves_panel(f"{maze.LONG:,} steps; {names}", {}), marks=marks)


MEASURES = (("area", area), ("final return", final))


def _spreads(found: dict[str, Stored]) -> list[Comparison]:
    return [
        Comparison.of(
            f"standard deviation over seeds, {what}: Dyna-Frequency / Dyna-Value",
            "below 1 (variance)",
            measure,
            *(found[name] for name in maze.BOTH),
        )
        for what, measure in MEASURES
    ]


def _longer(reading: str) -> str:
    return f"{reading}; {maze.LONG:,} steps"


def _leads(found: dict[str, Stored], size: str = "") -> list[Comparison]:
    return [
        Comparison.of(
            f"{size}Dyna-Frequency − Dyna-Value, {what}",
            "-",  # the text compares only the variance, and the figure's file is blank
            measure,
            *(found[name] for name in maze.BOTH),
        )
        for what, measure in MEASURES
    ]


def _of_learned_model(found: dict[str, Stored]) -> list[Comparison]:
    return [
        Comparison.of(
            f"{LEARNED} − {name}, area ({maze.DEFAULT})",
            "-",
            area,
            found[LEARNED],
            found[name],
        )
        for name in maze.BOTH
    ]


def _who_learned(frequency: Stored, value: Stored) -> str:
    """How many seeds do not learn, and the speed of those that do."""
    lost = [int(unlearned(stored).sum()) for stored in (frequency, value)]
    others = [mean_with_interval(area(stored)[~unlearned(stored)]) for stored in (frequency, value)]
    return (
        f"{maze.DEFAULT}: {lost[0]} seeds of Dyna-Frequency and {lost[1]} of Dyna-Value end below "
        f"−1500; the mean area of the others is {others[0]} and {others[1]}."
    )


def _where_they_were(*both: Stored) -> str:
    lost = np.concatenate([unlearned(stored) for stored in both])
    there = np.concatenate([states(stored, "replay")[..., 0] > LAST_WALL for stored in both])
    share = 100 * there.mean(axis=1)
    below, above = (mean_with_interval(share[of], 1, "%") for of in (lost, ~lost))
    return (
        f"{maze.DEFAULT}, states in the goal room: {below} of the replay buffers of seeds that end "
        f"below −1500, and {above} of those of the other seeds."
    )
