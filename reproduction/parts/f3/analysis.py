"""The evaluation of F3: tests of the paper's four observations on MountainCar."""

from typing import Any

import numpy as np

from freqdyna.results.chart import Chart, Legend
from freqdyna.results.comparison.statistics import LEVEL, stratified_interval
from reproduction.base import Findings, Stored
from reproduction.claims import Claim, Verdict
from reproduction.comparisons import (
    Comparison,
    Interaction,
    judge,
    judge_interactions,
)
from reproduction.learning_curves import SHADED, SMALL, curves_panel, named_curves
from reproduction.parts.f3.units import ALGORITHMS, NOISES, UPDATES, settings
from reproduction.readings import RULE, WHEN_UPDATES_BEGIN, judge_under_all
from reproduction.stored_trainings import area, left_out, pick, training_of
from reproduction.summary import summary

THRESHOLD = -200.0
LEARNED = "Dyna-Frequency, learned model"
Cell = dict[tuple[Any, ...], Stored]
"""By algorithm, updates and noise."""
Cells = dict[tuple[Any, ...], Stored]
"""By interpretation, algorithm, updates and noise."""


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each interpretation, number of updates and noise; tests of areas under curves."""
    cells = {
        (reading, name, d, noise): stored
        for reading in WHEN_UPDATES_BEGIN
        for d in UPDATES
        for noise in NOISES
        for name in ALGORITHMS
        if (stored := pick(units, **settings(reading, name, d, noise))) is not None
    }
    corners = list(dict.fromkeys((reading, *rest) for reading, _, *rest in cells))
    panels = [
        curves_panel(
            f"updates {reading}, d = {d}, σ = {noise:g}",
            named_curves(
                {
                    name: cell
                    for (of, name, *at), cell in cells.items()
                    if (of, *at) == (reading, d, noise)
                }
            ),
            legend=Legend(size=SMALL) if (reading, d, noise) == corners[0] else None,
        )
        for reading, d, noise in corners
    ]
    seeds = len(training_of(next(iter(cells.values()))).seeds)
    readings = list(dict.fromkeys(reading for reading, *_ in cells))
    chart = Chart(
        panels,
        f"F3: MountainCar, {seeds} seeds",
        SHADED,
        columns=len(panels) // len(readings),
        panel_size=(4.5, 4.0),
        share_y=True,
    )
    table = summary(
        {f"{n}, d = {d}, σ = {s:g}, updates {r}": cell for (r, n, d, s), cell in cells.items()},
        THRESHOLD,
    )
    return Findings(chart, _claims(cells, readings), table, (RULE,) if len(readings) > 1 else ())


def _claims(cells: Cells, readings: list[str]) -> list[Claim]:
    """All claims under each interpretation; corrections are for the comparisons of all of them."""
    by_reading = {reading: _of(cells, reading) for reading in readings}
    found = judge_under_all({r: _comparisons(of) for r, of in by_reading.items()}, judge)
    if len(cells) < len(readings) * len(ALGORITHMS) * len(UPDATES) * len(NOISES):
        return found
    few, many = UPDATES
    found += judge_under_all(
        {r: [of] for r, of in by_reading.items()},
        lambda every: [_not_every_one_gains(of, few, many, len(every)) for of in every],
    )
    crossed = {r: _interactions(of, few, many) for r, of in by_reading.items()}
    return found + judge_under_all(crossed, judge_interactions)


def _of(cells: Cells, reading: str) -> Cell:
    return {tuple(key): cell for (of, *key), cell in cells.items() if of == reading}


def _comparisons(cells: Cell) -> list[Comparison]:
    frequency, value = "Dyna-Frequency", "Dyna-Value"
    # Observations 2 and 4, then 3. The paper's text does not compare the learned model with ER.
    pairs = [(frequency, rival, "above 0") for rival in (value, "PrioritizedER", "ER")]
    pairs += [(value, "PrioritizedER", "above 0"), (LEARNED, "ER", "-")]
    return [
        Comparison.of(
            f"{better} − {worse}, area, d = {d}, σ = {noise:g}",
            paper,
            area,
            cells[better, d, noise],
            cells[worse, d, noise],
        )
        for better, worse, paper in pairs
        for d in UPDATES
        for noise in NOISES
        if (better, d, noise) in cells and (worse, d, noise) in cells
    ]


def _interactions(cells: Cell, few: int, many: int) -> list[Interaction]:
    frequency, value = "Dyna-Frequency", "Dyna-Value"
    return [
        Interaction.of(
            f"{frequency} − {value}, area, difference between d = {many} and d = {few}, σ = 0",
            "above 0 (clearer)",
            area,
            (cells[frequency, many, 0.0], cells[value, many, 0.0]),
            (cells[frequency, few, 0.0], cells[value, few, 0.0]),
        ),
        *(
            Interaction.of(
                f"loss of area due to noise, {value} − {frequency}, d = {d}",
                "above 0 (robust)",
                area,
                (cells[value, d, 0.0], cells[value, d, 0.1]),
                (cells[frequency, d, 0.0], cells[frequency, d, 0.1]),
            )
            for d in UPDATES
        ),
    ]


def _not_every_one_gains(cells: Cell, few: int, many: int, readings: int) -> Claim:
    """Observation 1: with more updates these algorithms do not necessarily perform better."""
    gains, intervals = [], []
    for name in ALGORITHMS:
        both = cells[name, many, 0.0], cells[name, few, 0.0]
        more, less = map(area, both)
        seeds = left_out(*both)
        gain = f"{name} {more.mean() - less.mean():+.0f}"
        gains.append(f"{gain} ({seeds})" if seeds else gain)
        level = 1 - LEVEL / (len(ALGORITHMS) * readings)
        intervals.append(
            stratified_interval(lambda a, b: a.mean(-1) - b.mean(-1), more, less, level=level)
        )
    lows, highs = np.array(intervals).T
    verdict: Verdict = "undecided"
    if (highs < 0).any() or (lows > 0).all():
        verdict = "holds" if (highs < 0).any() else "does not hold"
    ranges = "; ".join(f"[{low:+.0f}, {high:+.0f}]" for low, high in intervals)
    what = f"not every algorithm gains from d = {many} instead of {few}, area, σ = 0"
    return Claim(what, "some do not", "; ".join(gains), ranges, verdict, "every")
