"""F4, F5 and F8: MazeGridWorld under eight interpretations of the paper.

F4 has the learning curves, F5 the states of the search-control queue, and F8 the states of queue
and replay buffer.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from freqdyna import envs
from freqdyna.results.chart import Chart, Legend, Panel, dots
from freqdyna.results.maps import map_panel
from reproduction import claims, comparisons, study
from reproduction.claims import Statement
from reproduction.comparisons import (
    IN_THE_MAZE,
    MAZE_RULE,
    Comparison,
    judge_each,
    table_of,
    under_all,
)
from reproduction.curves import SHADED, curves_panel, curves_panels
from reproduction.states import MAZE, STORES, near_holes
from reproduction.study import Findings, Part, Stored, Unit, area, measured, training, unlearned

VARY_LESS = Statement(
    "maze: returns vary less over seeds with Dyna-Frequency than with Dyna-Value", main=True
)
AHEAD = Statement("maze: Dyna-Frequency is ahead of Dyna-Value", main=True)
AHEAD_IF_LONG = Statement(
    "maze: Dyna-Frequency is ahead of Dyna-Value in trainings of 100,000 steps"
)
LEARNED_BETTER = {
    "Dyna-Frequency": Statement("maze: the learned model is better than the true one"),
    "Dyna-Value": Statement(
        "maze: Dyna-Frequency with a learned model is ahead of Dyna-Value with the true one"
    ),
}
PERCENTAGES = Statement("maze: the paper's percentages of queue states near a hole")
NEAR_HOLES = Statement(
    "maze: more of Dyna-Frequency's queue states than of Dyna-Value's are near a hole", main=True
)
NEAR_GOAL = Statement(
    "maze: more of Dyna-Value's queue states than of Dyna-Frequency's are near the goal"
)
STORES_DIFFER = Statement("maze: the distributions of queue and replay buffer differ")
HIGHER_VALUE = Statement(
    "maze: states in the queue have a higher value than those in the replay buffer"
)

LEARNED = "Dyna-Frequency, learned model"
ALGORITHMS: dict[str, dict[str, str]] = {
    "Dyna-Value": {"algorithm": "dyna-value"},
    "Dyna-Frequency": {"algorithm": "dyna-frequency"},
    LEARNED: {"algorithm": "dyna-frequency", "model": "learned"},
}
BOTH = ("Dyna-Frequency", "Dyna-Value")
"""The algorithms that are trained under every interpretation."""
DEFAULT = next(iter(IN_THE_MAZE))
MAIN = ("walls outside, restart, Σ", "walls inside, clip, I")
"""The interpretations that figures show; the second one has the choices of the published code."""
LONG = 100_000
"""The steps of further trainings under `MAIN`: the names of the paper's files suggest that its
trainings may be longer than 50,000 steps."""
DOTS = "orangered"
"""The colour of states, which is visible on the floor and on walls."""
PAPER = {"Dyna-Frequency": 25.3, "Dyna-Value": 11.7}
"""The paper's shares of queue states near a hole, in percent (figure 5)."""
THRESHOLD = -200.0
LOWEST = -2050.0
"""The lower end of the axis of returns; an episode has at most 2,000 steps."""
MEASURES = (("area", area), ("final return", study.final))
Trainings = dict[str, Stored]
"""By algorithm."""


def settings(interpretation: str, name: str) -> dict[str, Any]:
    """The training of one of `ALGORITHMS` under one of `IN_THE_MAZE`."""
    return {"env": MAZE} | ALGORITHMS[name] | IN_THE_MAZE[interpretation]


def units(quick: bool) -> list[Unit]:
    """The trainings of `BOTH` under all interpretations, and for `LONG` steps under `MAIN`."""
    default = [training(quick, **settings(DEFAULT, name)) for name in BOTH]
    if quick:
        return default
    long = [training(quick, steps=LONG, **settings(i, name)) for i in MAIN for name in BOTH]
    others = [i for i in IN_THE_MAZE if i != DEFAULT]
    more = [training(quick, **settings(i, name)) for i in others for name in BOTH]
    return [*long, *more, *default]


def units_with_learned_model(quick: bool) -> list[Unit]:
    """The same, and the learned model once."""
    return [*units(quick), training(quick, **settings(DEFAULT, LEARNED))]


def trainings(units: dict[str, Stored], longer: bool = False) -> dict[str, Trainings]:
    """The stored trainings by interpretation and algorithm; if `longer`, those of `LONG` steps."""
    return study.grouped(units, IN_THE_MAZE, ALGORITHMS, settings, longer)


def near_holes_if_learned(stored: Stored, step: int | None = None) -> np.ndarray:
    """The shares of queue states near a hole of the seeds that learned; of all seeds if none did.

    The queue of a seed that never learned has far fewer states near a hole, so that a sample of all
    seeds is bimodal, and the range of its middle part means nothing.
    """
    return of_learned(stored, measured(stored, "queue_near_hole", step))


def of_learned(stored: Stored, values: np.ndarray) -> np.ndarray:
    """The numbers of the seeds that learned, shape (seeds,); all of them if no seed did."""
    learned = ~unlearned(stored)
    return values[learned] if learned.any() else values


def _both(runs: Trainings) -> list[Stored]:
    return [runs[name] for name in BOTH]


def _f4(units: dict[str, Stored]) -> Findings:
    """The domain, and curves under each interpretation."""
    runs, long = trainings(units), trainings(units, longer=True)
    drawn = curves_panels(runs, Legend("below", columns=3))
    if long:  # at the beginning of the second row
        of_long = {
            f"{name}; {i}": study.curves(one) for i, of in long.items() for name, one in of.items()
        }
        title = f"{LONG:,} steps: {MAIN[0]}\ndotted: {MAIN[1]}"
        drawn.insert(len(runs) // 2, curves_panel(title, of_long))
        drawn = [replace(one, y=replace(one.y, low=LOWEST, high=0.0)) for one in drawn]
    panels = [map_panel(envs.make(MAZE), MAZE), *drawn]
    numbers = sorted({len(study.training_of(one).seeds) for one in units.values()}, reverse=True)
    title = f"F4: MazeGridWorld, 30 updates, {' or '.join(map(str, numbers))} seeds"
    columns = len(panels) // 2 if long else None
    chart = Chart(panels, f"{title}, {SHADED}", columns=columns, panel_size=(4.2, 4.0))
    spreads = judge_each({i: _spreads(of) for i, of in runs.items()}, comparisons.judge_spread)
    compared = {i: _leads(of, AHEAD) for i, of in runs.items()}
    longer = {f"{i}; {LONG:,} steps": of for i, of in long.items()}
    compared |= {i: _leads(of, AHEAD_IF_LONG, f"{LONG:,} steps: ") for i, of in longer.items()}
    leads = judge_each(compared | {LEARNED: _of_learned_model(runs[DEFAULT])}, comparisons.judge)
    judged = [
        *under_all(spreads),
        *under_all({i: leads[i] for i in runs}),
        *under_all({i: leads[i] for i in longer}),
        *leads[LEARNED],
    ]
    every = {f"{name}; {i}": one for i, of in (runs | longer).items() for name, one in of.items()}
    notes = (MAZE_RULE, f"Trainings of {LONG:,} steps have the same warm-up as the others.")
    further = [_seeds_table(runs), table_of({i: [*spreads[i], *leads[i]] for i in runs})]
    return Findings(chart, judged, comparisons.summary(every, THRESHOLD), notes, further)


def _spreads(runs: Trainings) -> list[Comparison]:
    what = "standard deviation over seeds, {}: Dyna-Frequency / Dyna-Value"
    return [
        Comparison.of(VARY_LESS, what.format(name), "below 1 (variance)", measure, *_both(runs))
        for name, measure in MEASURES
    ]


def _leads(runs: Trainings, statement: Statement, size: str = "") -> list[Comparison]:
    # The paper's text compares only the variance, and the figure's file is blank.
    what = f"{size}Dyna-Frequency − Dyna-Value, {{}}"
    return [
        Comparison.of(statement, what.format(name), "-", measure, *_both(runs))
        for name, measure in MEASURES
    ]


def _of_learned_model(runs: Trainings) -> list[Comparison]:
    what = f"{LEARNED} − {{}}, area ({DEFAULT})"
    return [
        Comparison.of(stated, what.format(name), "-", area, runs[LEARNED], runs[name])
        for name, stated in LEARNED_BETTER.items()
    ]


def _seeds_table(runs: dict[str, Trainings]) -> list[list[str]]:
    """How many seeds do not learn, the speed of those that do, and where they were."""
    rows = [["training", "seeds that end below −1500", "area of the others"]]
    rows[0] += ["states of their replay buffers in the goal room", "of the others"]
    for i, of in runs.items():
        for name in BOTH:
            lost, share = unlearned(of[name]), measured(of[name], "replay_in_goal_room")
            there = [
                comparisons.mean_with_interval(share[seeds], 1, "%") for seeds in (lost, ~lost)
            ]
            areas = comparisons.mean_with_interval(area(of[name])[~lost])
            rows.append([f"{name}; {i}", str(lost.sum()), areas, *there])
    return rows


def _f5(units: dict[str, Stored]) -> Findings:
    """Queues of the median seed under two interpretations; shares under all."""
    runs, long = trainings(units), trainings(units, longer=True)
    panels = []
    for interpretation in MAIN:
        for name in BOTH if interpretation in runs else ():
            share = near_holes(study.states(runs[interpretation][name], "queue"))
            title = f"{name}: {share:.1f}% near a hole\n{interpretation}"
            panels.append(_map(runs[interpretation][name], "queue", title))
    title = "F5: the search-control queue at the end, median seed"
    chart = Chart(panels, title, columns=len(BOTH), panel_size=(4.6, 4.6))
    header = ["share near a hole, mean over seeds", *BOTH]
    header += [f"{name}, seeds that learned" for name in BOTH]
    rows = [[interpretation, *_shares(of)] for interpretation, of in runs.items()]
    rows += [
        [f"{interpretation}; at step {step:,} of {LONG:,}", *_shares(of, step)]
        for interpretation, of in long.items()
        for step in (study.PAPERS_STEP, LONG)
    ]
    within = "{}: queue states within 0.1 of a hole, seeds that learned"
    what = "share near a hole, seeds that learned: Dyna-Frequency − Dyna-Value, percentage points"
    percentages, contrasts = {}, {}
    for i, of in runs.items():
        shares = {name: near_holes_if_learned(of[name]) for name in BOTH}
        percentages[i] = [
            claims.share(PERCENTAGES, within.format(name), PAPER[name], share)
            for name, share in shares.items()
        ]
        frequency, value = shares.values()
        contrasts[i] = [Comparison(NEAR_HOLES, what, "above 0", frequency, value)]
    judged_contrasts = judge_each(contrasts, comparisons.judge)
    notes = ("Each seed is one sample; the paper shows one queue per algorithm.", MAZE_RULE)
    by_each = [table_of({i: [*percentages[i], *judged_contrasts[i]] for i in runs})]
    judged = under_all(percentages) + under_all(judged_contrasts)
    return Findings(chart, judged, [header, *rows], notes, by_each)


def _map(stored: Stored, store: str, title: str) -> Panel:
    """The states of the median seed on a map of the maze."""
    x, y = study.states(stored, store).T
    return map_panel(envs.make(MAZE), title, [dots(x, y, DOTS)])


def _shares(runs: Trainings, step: int | None = None) -> list[str]:
    """The shares of both queues near a hole, of all seeds and of those that learned."""
    both = _both(runs)
    cells = [
        comparisons.mean_with_interval(measured(one, "queue_near_hole", step), 1, "%")
        for one in both
    ]
    for one in both:
        number = int((~unlearned(one)).sum())
        share = comparisons.mean_with_interval(near_holes_if_learned(one, step), 1, "%")
        cells.append(f"{share} ({number} seeds)" if number else "no seed")
    return cells


HOW = (
    "Distance of the distributions: total variation over 10 × 10 cells (the share of states that "
    "would have to move to make the samples equal), minus that of samples of the same size in "
    "which the states of both stores are mixed at random: 0 means that they do not differ. Value: "
    "the probability that V of a state in the queue is greater than V of one in the replay buffer, "
    "minus 50%, with the network at the end, for seeds that learned; the value of the others is "
    "constant."
)


def _f8(units: dict[str, Stored]) -> Findings:
    """States of the median seed under two interpretations; where they are, under all."""
    runs, long = trainings(units), trainings(units, longer=True)
    panels = [
        _map(runs[i][name], kept, f"{name}: {kept}\n{i}")
        for i in MAIN
        if i in runs
        for name in BOTH
        for kept in STORES
    ]
    title = "F8: states at the end, median seed"
    chart = Chart(panels, title, columns=len(STORES) * len(BOTH), panel_size=(4.0, 4.2))
    rows = [["states", "near a hole, mean over seeds", "near the goal, mean over seeds"]]
    for i, of in (runs | {f"{i}; {LONG:,} steps": of for i, of in long.items()}).items():
        for name in BOTH:
            for kept in STORES:
                shares = (measured(of[name], f"{kept}_near_{what}") for what in ("hole", "goal"))
                cells = (f"{share.mean():.1f}%" for share in shares)
                rows.append([f"{name}, {kept}; {i}", *cells])
    gathered = judge_each({i: [_more_near_goal(of)] for i, of in runs.items()}, comparisons.judge)
    some_learned = {
        i: of for i, of in runs.items() if not any(unlearned(of[name]).all() for name in BOTH)
    }
    judged_rows = len(BOTH) * (len(runs) + len(some_learned))
    above = partial(claims.difference, negative=False, form="+.1f", rows=judged_rows)
    where = "{}: distance between the distributions of queue and replay buffer, percentage"
    higher = (
        "{}: states in the queue have a higher value than those in the replay buffer, percentage "
        "points"
    )
    differ = partial(above, STORES_DIFFER, paper="above 0 (very different)")
    high = partial(above, HIGHER_VALUE, paper="above 0 (relatively high)")
    places, valued = {}, {}
    for i, of in runs.items():
        distances = {name: measured(of[name], "distance_of_stores") for name in BOTH}
        places[i] = [differ(where.format(n), differences=one) for n, one in distances.items()]
    for i, of in some_learned.items():
        leads = {n: measured(of[n], "value_lead_of_queue")[~unlearned(of[n])] for n in BOTH}
        valued[i] = [high(higher.format(n), differences=one) for n, one in leads.items()]
    tables = [table_of(valued)] if valued else []
    tables.append(table_of({i: [*gathered[i], *places[i]] for i in runs}))
    judged = under_all(gathered) + under_all(places) + under_all(valued)
    return Findings(chart, judged, rows, (HOW, MAZE_RULE), tables)


def _more_near_goal(runs: Trainings) -> Comparison:
    what = (
        "share of the queue near the goal, seeds that learned: Dyna-Value − Dyna-Frequency, "
        "percentage points"
    )
    frequency, value = (of_learned(runs[n], measured(runs[n], "queue_near_goal")) for n in BOTH)
    return Comparison(NEAR_GOAL, what, "above 0 (text)", value, frequency)


F4 = Part("F4", "MazeGridWorld, learning curves", "three days", units_with_learned_model, _f4)
F5 = Part("F5", "MazeGridWorld, states in the queue", "three days", units, _f5)
F8 = Part("F8", "MazeGridWorld, states in queue and replay buffer", "three days", units, _f8)
