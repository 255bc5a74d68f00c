"""F3: learning curves on MountainCar.

Five algorithms, two numbers of updates and two noise levels, each under both interpretations of
when updates begin; tests of the paper's four observations.
"""

from itertools import product
from typing import Any

import numpy as np

from freqdyna.results.chart import Chart, Legend
from freqdyna.results.statistics import LEVEL, stratified_interval
from reproduction import comparisons
from reproduction.claims import Claim, Statement, Verdict
from reproduction.comparisons import RULE, WHEN_UPDATES_BEGIN, Comparison, under_all
from reproduction.curves import SHADED, SMALL, curves_panels
from reproduction.study import Findings, Part, Stored, Unit, area, grouped, training, training_of

AHEAD = Statement(
    "MountainCar: Dyna-Frequency is ahead of ER, PrioritizedER and Dyna-Value", main=True
)
VALUE_AHEAD = Statement("MountainCar: Dyna-Value is ahead of PrioritizedER")
NOT_EVERY_ONE_GAINS = Statement(
    "MountainCar: not every algorithm gains from 30 updates instead of 10"
)
CLEARER = Statement("MountainCar: the lead over Dyna-Value is clearer with 30 updates than with 10")
ROBUST = Statement("MountainCar: noise costs Dyna-Value more than Dyna-Frequency", main=True)
LEARNED_AHEAD = Statement("MountainCar: Dyna-Frequency with a learned model is ahead of ER")

ALGORITHMS: dict[str, dict[str, str]] = {
    "ER": {"algorithm": "er"},
    "PrioritizedER": {"algorithm": "prioritized-er"},
    "Dyna-Value": {"algorithm": "dyna-value"},
    "Dyna-Frequency": {"algorithm": "dyna-frequency"},
    "Dyna-Frequency, learned model": {"algorithm": "dyna-frequency", "model": "learned"},
}
UPDATES = (10, 30)
NOISES = (0.0, 0.1)
THRESHOLD = -200.0
PAIRS = (
    # Observations 2 and 4, then 3. The paper's text does not compare the learned model with ER.
    *(
        (AHEAD, "Dyna-Frequency", rival, "above 0")
        for rival in ("Dyna-Value", "PrioritizedER", "ER")
    ),
    (VALUE_AHEAD, "Dyna-Value", "PrioritizedER", "above 0"),
    (LEARNED_AHEAD, "Dyna-Frequency, learned model", "ER", "-"),
)
Cell = tuple[str, int, float]
"""Algorithm, updates and noise."""
CELLS: list[Cell] = [(name, d, noise) for d in UPDATES for noise in NOISES for name in ALGORITHMS]


def settings(interpretation: str, cell: Cell) -> dict[str, Any]:
    """One training of the figure."""
    name, updates, noise = cell
    stated = {"env": "MountainCar-v0", "planning_steps": updates, "env.reward_noise": noise}
    return stated | ALGORITHMS[name] | WHEN_UPDATES_BEGIN[interpretation]


def units(quick: bool) -> list[Unit]:
    """All cells, the longest first; a quick run has three."""
    if quick:
        first, few = next(iter(WHEN_UPDATES_BEGIN)), ("ER", "Dyna-Value", "Dyna-Frequency")
        return [training(True, **settings(first, (name, UPDATES[0], 0.0))) for name in few]
    return [
        training(False, **settings(interpretation, (name, updates, noise)))
        for interpretation in WHEN_UPDATES_BEGIN
        for updates in reversed(UPDATES)
        for name in reversed(ALGORITHMS)
        for noise in NOISES
    ]


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each interpretation, number of updates and noise; tests of areas under curves."""
    cells = grouped(units, WHEN_UPDATES_BEGIN, CELLS, settings)
    panels: dict[str, dict[str, Stored]] = {}
    table: dict[str, Stored] = {}
    for interpretation, of in cells.items():
        for (name, updates, noise), stored in of.items():
            at = f"d = {updates}, σ = {noise:g}"
            panels.setdefault(f"updates {interpretation}, {at}", {})[name] = stored
            table[f"{name}, {at}, updates {interpretation}"] = stored
    seeds = len(training_of(next(iter(table.values()))).seeds)
    chart = Chart(
        curves_panels(panels, Legend(size=SMALL)),
        f"F3: MountainCar, {seeds} seeds, {SHADED}",
        columns=len(panels) // len(cells),
        panel_size=(4.5, 4.0),
        share_y=True,
    )
    return Findings(chart, _claims(cells), comparisons.summary(table, THRESHOLD), (RULE,))


def _claims(cells: dict[str, dict[Cell, Stored]]) -> list[Claim]:
    """All claims under each interpretation; corrections are for the comparisons of all of them."""
    found = under_all(
        comparisons.judge_each(
            {name: _comparisons(of) for name, of in cells.items()}, comparisons.judge
        )
    )
    if any(len(of) < len(CELLS) for of in cells.values()):
        return found  # a quick run
    every = len(cells)
    gains = under_all({name: [_not_every_one_gains(of, every)] for name, of in cells.items()})
    crossed = under_all({name: _interactions(of, 3 * every) for name, of in cells.items()})
    return found + gains + crossed


def _comparisons(cells: dict[Cell, Stored]) -> list[Comparison]:
    found = []
    for (statement, better, worse, paper), d, noise in product(PAIRS, UPDATES, NOISES):
        pair = [cells[name, d, noise] for name in (better, worse) if (name, d, noise) in cells]
        if len(pair) == len((better, worse)):
            what = f"{better} − {worse}, area, d = {d}, σ = {noise:g}"
            found.append(Comparison.of(statement, what, paper, area, *pair))
    return found


def _interactions(cells: dict[Cell, Stored], rows: int) -> list[Claim]:
    """Observations on the differences between differences."""
    frequency, value = "Dyna-Frequency", "Dyna-Value"
    few, many = UPDATES
    clearer = f"{frequency} − {value}, area, difference between d = {many} and d = {few}, σ = 0"
    keys = [(frequency, many, 0.0), (value, many, 0.0), (frequency, few, 0.0), (value, few, 0.0)]
    found = [_interaction(CLEARER, clearer, "above 0 (clearer)", [cells[k] for k in keys], rows)]
    for d in UPDATES:
        robust = f"loss of area due to noise, {value} − {frequency}, d = {d}"
        keys = [(name, d, noise) for name in (value, frequency) for noise in NOISES]
        four = [cells[k] for k in keys]
        found.append(_interaction(ROBUST, robust, "above 0 (robust)", four, rows))
    return found


def _interaction(
    statement: Statement, what: str, paper: str, four: list[Stored], rows: int
) -> Claim:
    """Whether a − b is above c − d, by an interval corrected for a number of rows (Bonferroni)."""

    def statistic(*groups: np.ndarray) -> np.ndarray:
        a, b, c, d = (group.mean(-1) for group in groups)
        return np.asarray((a - b) - (c - d))

    samples = [area(stored) for stored in four]
    low, high = stratified_interval(statistic, *samples, level=1 - LEVEL / rows)
    verdict: Verdict = "holds" if low > 0 else "does not hold" if high < 0 else "undecided"
    ours, least, most = comparisons.signed(float(statistic(*samples)), low, high)
    interval = f"[{least}, {most}], corrected"
    return Claim(statement, what, paper, ours, interval, verdict, "interaction")


def _not_every_one_gains(cells: dict[Cell, Stored], interpretations: int) -> Claim:
    """Observation 1: with more updates these algorithms do not necessarily perform better."""
    few, many = UPDATES
    level = 1 - LEVEL / (len(ALGORITHMS) * interpretations)
    gains, intervals = [], []
    for name in ALGORITHMS:
        more, less = area(cells[name, many, 0.0]), area(cells[name, few, 0.0])
        gains.append(f"{name} {more.mean() - less.mean():+.0f}")
        intervals.append(
            stratified_interval(lambda a, b: a.mean(-1) - b.mean(-1), more, less, level=level)
        )
    lows, highs = np.array(intervals).T
    verdict: Verdict = "undecided"
    if (highs < 0).any() or (lows > 0).all():
        verdict = "holds" if (highs < 0).any() else "does not hold"
    ranges = "; ".join(f"[{low:+.0f}, {high:+.0f}]" for low, high in intervals)
    what = f"not every algorithm gains from d = {many} instead of {few}, area, σ = 0"
    gained = "; ".join(gains)
    return Claim(NOT_EVERY_ONE_GAINS, what, "some do not", gained, ranges, verdict, "every")


PART = Part("F3", "MountainCar, learning curves", "about four hours", units, analyse)
