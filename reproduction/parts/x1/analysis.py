"""The evaluation of X1: V + g and V·g compared with Dyna-Frequency, visited states with ER."""

from freqdyna.results.chart import Chart, Legend
from reproduction.base import Findings, Stored
from reproduction.comparisons import Comparison, judge
from reproduction.learning_curves import SHADED, curves_panel, named_curves
from reproduction.parts.x1.units import ALGORITHMS, VISITED, settings
from reproduction.readings import (
    RULE,
    WHEN_UPDATES_BEGIN,
    by_reading,
    judge_under_all,
)
from reproduction.stored_trainings import area, training_of
from reproduction.summary import summary

THRESHOLD = -200.0


NOT_BETTER = (
    "'Not below 0': that one is not better than the other cannot be shown by a test of their "
    "difference, only refuted; it is undecided unless the difference is significant."
)


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each interpretation; each combination compared with Dyna-Frequency."""
    visited = by_reading(units, WHEN_UPDATES_BEGIN, VISITED, settings)
    # ER is shown only next to what it is compared with.
    are_compared = all(len(visited.get(r, ())) == len(VISITED) for r in WHEN_UPDATES_BEGIN)
    names = (*ALGORITHMS, *(VISITED if are_compared else ()))
    found = by_reading(units, WHEN_UPDATES_BEGIN, names, settings)
    panels = [
        curves_panel(
            f"MountainCar, 10 updates {reading}",
            named_curves(trainings),
            legend=Legend() if trainings is next(iter(found.values())) else None,
        )
        for reading, trainings in found.items()
    ]
    every = {f"{n}, updates {r}": one for r, of in found.items() for n, one in of.items()}
    seeds = min(len(training_of(one).seeds) for one in every.values())
    title = f"X1: search-controls that did not work well, at least {seeds} seeds"
    chart = Chart(panels, title, SHADED, share_y=True)
    compared = {reading: _comparisons(trainings) for reading, trainings in found.items()}
    claims = judge_under_all(compared, judge)
    notes = [NOT_BETTER, *([RULE] if len(found) > 1 else [])]
    return Findings(chart, claims, summary(every, THRESHOLD), notes)


def _comparisons(found: dict[str, Stored]) -> list[Comparison]:
    pairs = [
        (f"{other} does not work well", "above 0", "Dyna-Frequency", other)
        for other in ("Dyna-V+g", "Dyna-V·g")
    ]
    pairs += [("visited states do not outperform ER", "not below 0", "ER", "Dyna-Replay")]
    return [
        Comparison.of(f"{what}: {better} − {worse}, area", paper, area, found[better], found[worse])
        for what, paper, better, worse in pairs
        if better in found and worse in found
    ]
