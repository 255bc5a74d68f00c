"""The evaluation of F3: tests of the paper's four observations on MountainCar."""

import numpy as np

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.claims import Claim, Verdict
from freqdyna.experiments.comparisons import (
    LEVEL,
    Comparison,
    Interaction,
    interval,
    judge,
    judge_interactions,
)
from freqdyna.experiments.learning_curves import SHADED, SMALL, curves_panel, named_curves
from freqdyna.experiments.parts.f3.units import ALGORITHMS, NOISES, UPDATES, settings
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, left_out, pick, training_of
from freqdyna.results.chart import Chart, Legend

THRESHOLD = -200.0
Cells = dict[tuple[str, int, float], Stored]


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each number of updates and noise; tests of areas under curves."""
    cells = {
        (name, d, noise): stored
        for d in UPDATES
        for noise in NOISES
        for name in ALGORITHMS
        if (stored := pick(units, **settings(name, d, noise))) is not None
    }
    corners = list(dict.fromkeys((d, noise) for _, d, noise in cells))
    panels = [
        curves_panel(
            f"{d} updates, σ = {noise:g}",
            named_curves({name: cell for (name, *at), cell in cells.items() if at == [d, noise]}),
            legend=Legend(size=SMALL) if (d, noise) == corners[0] else None,
        )
        for d, noise in corners
    ]
    seeds = len(training_of(next(iter(cells.values()))).seeds)
    title = f"F3: MountainCar, {seeds} seeds"
    chart = Chart(panels, title, SHADED, panel_size=(4.5, 4.0), share_y=True)
    table = summary(
        {f"{n}, d = {d}, σ = {s:g}": cell for (n, d, s), cell in cells.items()}, THRESHOLD
    )
    return Findings(chart, _claims(cells), table)


def _claims(cells: Cells) -> list[Claim]:
    frequency, value = "Dyna-Frequency", "Dyna-Value"
    # Observations 2 and 4, then 3, then the learned model.
    pairs = [(frequency, rival) for rival in (value, "PrioritizedER", "ER")]
    pairs += [(value, "PrioritizedER"), ("Dyna-Frequency, learned model", "ER")]
    comparisons = [
        Comparison.of(
            f"{better} − {worse}, area, d = {d}, σ = {noise:g}",
            "above 0",
            area,
            cells[better, d, noise],
            cells[worse, d, noise],
        )
        for better, worse in pairs
        for d in UPDATES
        for noise in NOISES
        if (better, d, noise) in cells and (worse, d, noise) in cells
    ]
    found = judge(comparisons)
    few, many = UPDATES
    if len(cells) < len(ALGORITHMS) * len(UPDATES) * len(NOISES):
        return found
    found.append(_not_every_one_gains(cells, few, many))
    interactions = [
        Interaction.of(
            f"{frequency} − {value}, area, difference between d = {many} and d = {few}, σ = 0",
            "above 0 (clearer)",
            area,
            (cells[frequency, many, 0.0], cells[value, many, 0.0]),
            (cells[frequency, few, 0.0], cells[value, few, 0.0]),
        )
    ]
    interactions += [
        Interaction.of(
            f"loss of area due to noise, {value} − {frequency}, d = {d}",
            "above 0 (robust)",
            area,
            (cells[value, d, 0.0], cells[value, d, 0.1]),
            (cells[frequency, d, 0.0], cells[frequency, d, 0.1]),
        )
        for d in UPDATES
    ]
    return found + judge_interactions(interactions)


def _not_every_one_gains(cells: Cells, few: int, many: int) -> Claim:
    """Observation 1: with more updates these algorithms do not necessarily perform better."""
    gains, intervals = [], []
    for name in ALGORITHMS:
        both = cells[name, many, 0.0], cells[name, few, 0.0]
        more, less = map(area, both)
        seeds = left_out(*both)
        gain = f"{name} {more.mean() - less.mean():+.0f}"
        gains.append(f"{gain} ({seeds})" if seeds else gain)
        level = 1 - LEVEL / len(ALGORITHMS)
        intervals.append(interval(lambda a, b: a.mean(-1) - b.mean(-1), more, less, level=level))
    lows, highs = np.array(intervals).T
    verdict: Verdict = "undecided"
    if (highs < 0).any() or (lows > 0).all():
        verdict = "holds" if (highs < 0).any() else "does not hold"
    ranges = "; ".join(f"[{low:+.0f}, {high:+.0f}]" for low, high in intervals)
    what = f"not every algorithm gains from d = {many} instead of {few}, area, σ = 0"
    return Claim(what, "some do not", "; ".join(gains), ranges, verdict, "every")
