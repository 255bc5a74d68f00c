"""F3 and X1: learning curves on MountainCar.

F3 has five algorithms, two numbers of updates and two noise levels, and tests of the paper's four
observations; X1 has its unsuccessful trials. Each is under both interpretations of when updates
begin.
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
    judged = under_all(
        comparisons.judge_each(
            {name: _comparisons(of) for name, of in cells.items()}, comparisons.judge
        )
    )
    if any(len(of) < len(CELLS) for of in cells.values()):
        return judged  # a quick run
    every = len(cells)
    gains = under_all({name: [_not_every_one_gains(of, every)] for name, of in cells.items()})
    crossed = under_all({name: _interactions(of, 3 * every) for name, of in cells.items()})
    return judged + gains + crossed


def _comparisons(cells: dict[Cell, Stored]) -> list[Comparison]:
    comparisons = []
    for (statement, better, worse, paper), d, noise in product(PAIRS, UPDATES, NOISES):
        pair = [cells[name, d, noise] for name in (better, worse) if (name, d, noise) in cells]
        if len(pair) == len((better, worse)):
            what = f"{better} − {worse}, area, d = {d}, σ = {noise:g}"
            comparisons.append(Comparison.of(statement, what, paper, area, *pair))
    return comparisons


def _interactions(cells: dict[Cell, Stored], rows: int) -> list[Claim]:
    """Observations on the differences between differences."""
    frequency, value = "Dyna-Frequency", "Dyna-Value"
    few, many = UPDATES
    clearer = f"{frequency} − {value}, area, difference between d = {many} and d = {few}, σ = 0"
    keys = [(frequency, many, 0.0), (value, many, 0.0), (frequency, few, 0.0), (value, few, 0.0)]
    judged = [_interaction(CLEARER, clearer, "above 0 (clearer)", [cells[k] for k in keys], rows)]
    for d in UPDATES:
        robust = f"loss of area due to noise, {value} − {frequency}, d = {d}"
        keys = [(name, d, noise) for name in (value, frequency) for noise in NOISES]
        four = [cells[k] for k in keys]
        judged.append(_interaction(ROBUST, robust, "above 0 (robust)", four, rows))
    return judged


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


F3 = Part("F3", "MountainCar, learning curves", "about four hours", units, analyse)


# X1: climbing V + g and V · g, which did not work well in the paper, and visited states.

COMBINATIONS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-V+g": "dyna-value-plus-frequency",
    "Dyna-V·g": "dyna-value-times-frequency",
}
VISITED = {"ER": "er", "Dyna-Replay": "dyna-replay"}
"""The paper's introduction: planning from visited states does not outperform ER."""
COMBINED = Statement("MountainCar: climbing V + g or V·g is worse than climbing g")
FROM_VISITED = Statement("MountainCar: planning from visited states does not outperform ER")
NOT_BETTER = (
    "'Not below 0': that one is not better than the other cannot be shown by a test of their "
    "difference, only refuted; it is undecided unless the difference is significant."
)


def x1_settings(interpretation: str, name: str) -> dict[str, Any]:
    """One curve; those of Dyna-Frequency and ER are cells of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "env.reward_noise": 0.0}
    algorithm = (COMBINATIONS | VISITED)[name]
    return cell | {"algorithm": algorithm} | WHEN_UPDATES_BEGIN[interpretation]


def x1_units(quick: bool) -> list[Unit]:
    """All curves; a quick run has three, of one interpretation."""
    return [
        training(quick, **x1_settings(one, name))
        for one in list(WHEN_UPDATES_BEGIN)[: 1 if quick else None]
        for name in (*COMBINATIONS, *(() if quick else VISITED))
    ]


def analyse_x1(units: dict[str, Stored]) -> Findings:
    """A panel for each interpretation; each combination compared with Dyna-Frequency."""
    runs = grouped(units, WHEN_UPDATES_BEGIN, (*COMBINATIONS, *VISITED), x1_settings)
    panels = curves_panels({f"MountainCar, 10 updates {one}": of for one, of in runs.items()})
    every = {f"{n}, updates {one}": curve for one, of in runs.items() for n, curve in of.items()}
    seeds = min(len(training_of(one).seeds) for one in every.values())
    title = f"X1: search-controls that did not work well, at least {seeds} seeds"
    chart = Chart(panels, f"{title}, {SHADED}", share_y=True)
    compared = {one: _compared_trials(trainings) for one, trainings in runs.items()}
    claims = comparisons.under_all(comparisons.judge_each(compared, comparisons.judge))
    return Findings(chart, claims, comparisons.summary(every, THRESHOLD), [NOT_BETTER, RULE])


def _compared_trials(runs: dict[str, Stored]) -> list[Comparison]:
    frequency, visited = "Dyna-Frequency", "visited states do not outperform ER"
    pairs = [
        (COMBINED, f"{other} does not work well", "above 0", frequency, other)
        for other in ("Dyna-V+g", "Dyna-V·g")
    ]
    pairs += [(FROM_VISITED, visited, "not below 0", "ER", "Dyna-Replay")]
    return [
        Comparison.of(statement, f"{what}: {a} − {b}, area", paper, area, runs[a], runs[b])
        for statement, what, paper, a, b in pairs
        if a in runs and b in runs
    ]


X1 = Part("X1", "unsuccessful trials: climbing V + g and V·g", "half an hour", x1_units, analyse_x1)
