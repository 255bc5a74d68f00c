"""The evaluation of S: the two Dyna algorithms under each interpretation of the paper."""

from collections.abc import Callable

import numpy as np

from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Panel, Rule
from freqdyna.results.comparison.statistics import stratified_interval
from reproduction.base import Findings, Stored
from reproduction.claims import Claim, Verdict
from reproduction.comparisons import (
    Comparison,
    judge,
    judge_spread,
    mean_with_interval,
)
from reproduction.learning_curves import COLORS, SMALL
from reproduction.parts.maze import PAPER, near_holes, near_holes_if_learned
from reproduction.parts.open_choices import activations
from reproduction.parts.open_choices.units import ALGORITHMS, READINGS, by_reading
from reproduction.readings import judge_each, under_all
from reproduction.stored_trainings import area, machines, states, training_of

Found = dict[tuple[str, str, str], Stored]
NAMES = {"dyna-frequency": "Dyna-Frequency", "dyna-value": "Dyna-Value"}
BEGIN = (
    "On MountainCar, updates begin with the first step, except for 'updates after the warm-up'; in "
    "the maze they begin after the warm-up."
)


def analyse(units: dict[str, Stored]) -> Findings:
    """For each interpretation: the difference in area on both environments, shares in the maze."""
    found, apart = _on_one_machine(by_reading(units))
    environments = list(dict.fromkeys(env for _, env, _ in found))
    maze = "MazeGridWorld" in environments
    readings = [r for r in READINGS if any(key[0] == r for key in found)]
    by_row = Axis(ticks=list(enumerate(readings)), is_reversed=True)
    panels = []
    comparisons = []
    rows = [["interpretation", "environment", "area, Dyna-Frequency", "area, Dyna-Value"]]
    for env in environments:
        marks: list[Line] = []
        for place, reading in enumerate(readings):
            if (reading, env, ALGORITHMS[0]) not in found:
                continue
            pair = [found[reading, env, algorithm] for algorithm in ALGORITHMS]
            marks += _dot(place, lambda a, b: a.mean(-1) - b.mean(-1), *map(area, pair))
            rows.append([reading, env, *(mean_with_interval(area(one)) for one in pair)])
            what = f"{reading}, {env}: Dyna-Frequency − Dyna-Value, area"
            # About the maze, the text compares only the variance.
            paper = "-" if env == "MazeGridWorld" else "above 0"
            comparisons.append(Comparison.of(what, paper, area, *pair))
        difference = Axis("Dyna-Frequency − Dyna-Value, mean return")
        zero = Rule(0, upright=True, style=LineStyle("gray"), width=0.8)
        panels.append(Panel(env, difference, by_row, marks, [zero]))
    networks = activations.find(units)
    drawn, without = _with_states(found)
    groups = {"areas": comparisons, "shares": _contrasts(drawn, readings) if maze else []}
    judged = judge_each(groups | activations.comparisons(networks), judge)
    claims, of_shares = judged.pop("areas"), judged.pop("shares")
    if maze:
        claims += _spreads(found, readings) + of_shares
        rows[0] += ["near a hole, Dyna-Frequency", "near a hole, Dyna-Value"]
        shares = _shares(drawn, readings)
        for row in rows[1:]:
            has_shares = row[1] == "MazeGridWorld" and row[0] in shares
            row += [
                mean_with_interval(shares[row[0]][a], 1, "%") if has_shares else ""
                for a in ALGORITHMS
            ]
        panels.append(_shares_panel(shares, readings, by_row))
        claims.append(_some_reading_gives_f5(drawn, list(shares)))
    claims += under_all(judged)
    title = "S: one choice changed at a time, 95% intervals over seeds"
    chart = Chart(panels, title, panel_size=(4.6, 5.0), share_y=True)
    notes = [_seeds(found), BEGIN, *apart, *without, *([activations.NOTE] if networks else [])]
    tables = [table] if (table := activations.table(networks)) else []
    return Findings(chart, claims, rows, notes, tables)


def _on_one_machine(found: Found) -> tuple[Found, list[str]]:
    """The pairs of trainings that ran on the same kind of machine, and a note on the others."""
    pairs: dict[tuple[str, str], list[Stored]] = {}
    for (reading, env, _), stored in found.items():
        pairs.setdefault((reading, env), []).append(stored)
    kinds = {key: machines(*trainings) for key, trainings in pairs.items()}
    apart = [key for key, of in kinds.items() if len(of) > 1]
    named = "; ".join(f"{', '.join(key)} ({', '.join(kinds[key])})" for key in apart)
    note = f"Not compared, because the trainings ran on different kinds of machines: {named}."
    return {k: one for k, one in found.items() if k[:2] not in apart}, [note] if apart else []


def _with_states(found: Found) -> tuple[Found, list[str]]:
    """The trainings in the maze that were stored with their states, and a note on the others."""
    maze = {key: one for key, one in found.items() if key[1] == "MazeGridWorld"}
    without = list(dict.fromkeys(k[0] for k, one in maze.items() if not training_of(one).snapshots))
    note = f"Without shares near a hole, because states were not stored: {', '.join(without)}."
    drawn = {key: one for key, one in maze.items() if key[0] not in without}
    return drawn, [note] if without else []


def _seeds(found: Found) -> str:
    """The number of seeds of the trainings, and which trainings have fewer."""
    numbers = {key: len(training_of(stored).seeds) for key, stored in found.items()}
    most = max(numbers.values())
    fewer = sorted({f"{r}, {env}: {n}" for (r, env, _), n in numbers.items() if n < most})
    return "; ".join([f"Seeds of each training: {most}", *fewer]) + "."


def _spreads(found: Found, readings: list[str]) -> list[Claim]:
    """The claim of F4 under each interpretation."""
    return judge_spread(
        [
            Comparison.of(
                f"{reading}, MazeGridWorld: standard deviation of the area, Dyna-Frequency / "
                "Dyna-Value",
                "below 1",
                area,
                *(found[reading, "MazeGridWorld", algorithm] for algorithm in ALGORITHMS),
            )
            for reading in readings
            if (reading, "MazeGridWorld", ALGORITHMS[0]) in found
        ]
    )


def _contrasts(found: Found, readings: list[str]) -> list[Comparison]:
    """The contrast of F5 under each interpretation."""
    return [
        Comparison.of(
            f"{reading}: share near a hole, seeds that learned, Dyna-Frequency − Dyna-Value, "
            "percentage points",
            "above 0",
            near_holes_if_learned,
            *(found[reading, "MazeGridWorld", algorithm] for algorithm in ALGORITHMS),
        )
        for reading in readings
        if (reading, "MazeGridWorld", ALGORITHMS[0]) in found
    ]


def _shares(found: Found, readings: list[str]) -> dict[str, dict[str, np.ndarray]]:
    return {
        reading: {
            algorithm: near_holes(states(found[reading, "MazeGridWorld", algorithm], "queue"))
            for algorithm in ALGORITHMS
        }
        for reading in readings
        if (reading, "MazeGridWorld", ALGORITHMS[0]) in found
    }


def _shares_panel(
    shares: dict[str, dict[str, np.ndarray]], readings: list[str], by_row: Axis
) -> Panel:
    """Shares of both algorithms near a hole, compared with the paper's."""
    marks: list[Line] = []
    rules = []
    for algorithm, shift in zip(ALGORITHMS, (-0.12, 0.12), strict=True):
        name = NAMES[algorithm]
        for reading, of_reading in shares.items():
            place = readings.index(reading) + shift
            values = of_reading[algorithm]
            marks += _dot(place, lambda v: v.mean(-1), values, color=COLORS[name], series=name)
        dotted = LineStyle(COLORS[name], "dotted")
        rules.append(Rule(PAPER[name], True, dotted, label=f"{name} in the paper"))
    return Panel(
        title="MazeGridWorld, queue",
        x=Axis("states near a hole, %"),
        y=by_row,
        marks=marks,
        rules=rules,
        legend=Legend("center right", size=SMALL, framed=True),
    )


def _some_reading_gives_f5(found: Found, readings: list[str]) -> Claim:
    """Whether some interpretation explains both of the paper's shares by seeds that learned."""
    fits = []
    for reading in readings:
        inside = []
        for algorithm in ALGORITHMS:
            shares = near_holes_if_learned(found[reading, "MazeGridWorld", algorithm])
            low, high = np.quantile(shares, [0.025, 0.975])
            inside.append(bool(low <= PAPER[NAMES[algorithm]] <= high))
        if all(inside):
            fits.append(reading)
    verdict: Verdict = "holds" if fits else "does not hold"
    what = "some interpretation gives both percentages of F5, seeds that learned"
    return Claim(what, "25.3% and 11.7%", ", ".join(fits) or "none", "", verdict, "sampling")


def _dot(
    place: float,
    statistic: Callable[..., np.ndarray],
    *groups: np.ndarray,
    color: str = "black",
    series: str = "",
) -> list[Line]:
    """A statistic of groups of seeds as a dot on a row, and its interval as a line."""
    ends = np.array(stratified_interval(statistic, *groups))
    middle = np.array([float(statistic(*groups))])
    line, dot = LineStyle(color), LineStyle(color, "none")
    return [
        Line(ends, np.full(2, place), line, series=series),
        Line(middle, np.array([place]), dot, marker="circle", marker_size=4, series=series),
    ]
