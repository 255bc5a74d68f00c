"""X1: climbing V + g and V · g, which did not work well in the paper, and visited states.

On MountainCar, each under both interpretations of when updates begin.
"""

from typing import Any

from freqdyna.results.chart import Chart
from reproduction import comparisons
from reproduction.claims import Statement
from reproduction.comparisons import RULE, WHEN_UPDATES_BEGIN, Comparison
from reproduction.curves import SHADED, curves_panels
from reproduction.study import Findings, Part, Stored, Unit, area, grouped, training, training_of

ALGORITHMS = {
    "Dyna-Frequency": "dyna-frequency",
    "Dyna-V+g": "dyna-value-plus-frequency",
    "Dyna-V·g": "dyna-value-times-frequency",
}
VISITED = {"ER": "er", "Dyna-Replay": "dyna-replay"}
"""The paper's introduction: planning from visited states does not outperform ER."""
THRESHOLD = -200.0
COMBINED = Statement("MountainCar: climbing V + g or V·g is worse than climbing g")
FROM_VISITED = Statement("MountainCar: planning from visited states does not outperform ER")
NOT_BETTER = (
    "'Not below 0': that one is not better than the other cannot be shown by a test of their "
    "difference, only refuted; it is undecided unless the difference is significant."
)


def settings(interpretation: str, name: str) -> dict[str, Any]:
    """One curve; those of Dyna-Frequency and ER are cells of F3."""
    cell = {"env": "MountainCar-v0", "planning_steps": 10, "env.reward_noise": 0.0}
    algorithm = (ALGORITHMS | VISITED)[name]
    return cell | {"algorithm": algorithm} | WHEN_UPDATES_BEGIN[interpretation]


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has three, of one interpretation."""
    return [
        training(quick, **settings(one, name))
        for one in list(WHEN_UPDATES_BEGIN)[: 1 if quick else None]
        for name in (*ALGORITHMS, *(() if quick else VISITED))
    ]


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each interpretation; each combination compared with Dyna-Frequency."""
    found = grouped(units, WHEN_UPDATES_BEGIN, (*ALGORITHMS, *VISITED), settings)
    panels = curves_panels({f"MountainCar, 10 updates {one}": of for one, of in found.items()})
    every = {f"{n}, updates {one}": curve for one, of in found.items() for n, curve in of.items()}
    seeds = min(len(training_of(one).seeds) for one in every.values())
    title = f"X1: search-controls that did not work well, at least {seeds} seeds"
    chart = Chart(panels, f"{title}, {SHADED}", share_y=True)
    compared = {one: _comparisons(trainings) for one, trainings in found.items()}
    claims = comparisons.under_all(comparisons.judge_each(compared, comparisons.judge))
    return Findings(chart, claims, comparisons.summary(every, THRESHOLD), [NOT_BETTER, RULE])


def _comparisons(found: dict[str, Stored]) -> list[Comparison]:
    frequency, visited = "Dyna-Frequency", "visited states do not outperform ER"
    pairs = [
        (COMBINED, f"{other} does not work well", "above 0", frequency, other)
        for other in ("Dyna-V+g", "Dyna-V·g")
    ]
    pairs += [(FROM_VISITED, visited, "not below 0", "ER", "Dyna-Replay")]
    return [
        Comparison.of(statement, f"{what}: {a} − {b}, area", paper, area, found[a], found[b])
        for statement, what, paper, a, b in pairs
        if a in found and b in found
    ]


PART = Part("X1", "unsuccessful trials: climbing V + g and V·g", "half an hour", units, analyse)
