"""The evaluation of A1: whether more planning updates make episodes shorter."""

import itertools

import numpy as np

from freqdyna.results.chart import Axis, Chart, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.statistics import bootstrap_interval
from reproduction.base import Findings, Stored
from reproduction.comparisons import Comparison, judge, mean_with_interval
from reproduction.learning_curves import SHADED
from reproduction.parts.a1.units import EPISODES, UPDATES

COLORS = ("forestgreen", "red", "black")
SHOWN = (1, 2, 3, 5, 10, 25, EPISODES)
NEAR = 1.5
TEXTBOOK = {0: "about 25", 5: "about 5", 50: "3"}
"""Episodes until performance is optimal up to exploration (Sutton and Barto, section 8.2)."""


def lengths(stored: Stored) -> np.ndarray:
    """The length of each training episode, shape (seeds, EPISODES); NaN if not completed."""
    found = stored.columns["length"].reshape(-1, EPISODES).astype(float)
    return np.where(found > 0, found, np.nan)


def analyse(units: dict[str, Stored]) -> Findings:
    """A curve for each number of updates, and comparisons of neighbours."""
    found = {updates: lengths(units[f"updates-{updates}"]) for updates in UPDATES}
    curves = [
        SeedCurve(
            np.arange(2, EPISODES + 1),
            of[:, 1:],
            LineStyle(color),
            bootstrap_interval(of[:, 1:]),
            shade=0.15,
            label=f"{updates} updates per step",
        )
        for (updates, of), color in zip(found.items(), COLORS, strict=True)
    ]
    panel = Panel("Dyna maze", Axis("episode"), Axis("steps", low=0), curves, legend=Legend())
    seeds = len(next(iter(found.values())))
    chart = Chart([panel], f"A1: tabular Dyna, {seeds} seeds", SHADED, panel_size=(7.0, 4.2))
    claims = judge(
        [
            Comparison(
                f"mean steps of the episodes after the first: {few} − {many} updates per step",
                "above 0 (own check, after Sutton and Barto)",
                _after_first(found[few]),
                _after_first(found[many]),
            )
            for few, many in itertools.pairwise(UPDATES)
        ]
    )
    return Findings(chart, claims, _table(found), (_reached(found),))


def _after_first(of: np.ndarray) -> np.ndarray:
    """The mean length of the episodes after the first, shape (seeds,)."""
    return np.asarray(np.nanmean(of[:, 1:], axis=1))


def _table(found: dict[int, np.ndarray]) -> list[list[str]]:
    header = ["updates per step", *(f"steps of episode {episode}" for episode in SHOWN)]
    rows = [
        [
            str(updates),
            *(mean_with_interval(of[np.isfinite(of[:, e - 1]), e - 1]) for e in SHOWN),
        ]
        for updates, of in found.items()
    ]
    return [header, *rows]


def _reached(found: dict[int, np.ndarray]) -> str:
    """From which episode on the mean over seeds is near that of the last ones."""
    final = np.nanmean(found[UPDATES[-1]][:, -10:])
    parts = []
    for updates, of in found.items():
        above = np.flatnonzero(np.nanmean(of, axis=0) > NEAR * final)
        first = int(above[-1]) + 2 if len(above) else 1
        when = f"from episode {first} on" if first <= EPISODES else "in none"
        parts.append(f"{updates} updates: {when} (textbook: {TEXTBOOK[updates]})")
    return (
        f"Episodes whose mean length is at most {NEAR:g} times that of the last ten with "
        f"{UPDATES[-1]} updates, {final:.1f} steps: {'; '.join(parts)}. The shortest path has 14 "
        "steps, and one action in ten is random. The paper gives the algorithm without a result; "
        "the curve is that of Sutton and Barto's figure 8.2."
    )
