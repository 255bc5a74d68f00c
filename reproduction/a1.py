"""A1: tabular Dyna, on the maze of Sutton and Barto, with 0, 5 and 50 planning updates per step."""

import itertools
from functools import partial

import numpy as np

from freqdyna.results.chart import Axis, Chart, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.statistics import bootstrap_interval
from reproduction import tabular
from reproduction.claims import Statement
from reproduction.comparisons import Comparison, judge, mean_with_interval
from reproduction.curves import SHADED
from reproduction.study import Columns, Findings, Part, Stored, Unit

UPDATES = {0: ("forestgreen", "about 25"), 5: ("red", "about 5"), 50: ("black", "3")}
"""Planning updates per step: their colour, and the episodes until performance is optimal up to
exploration (Sutton and Barto, section 8.2)."""
EPISODES = 50
SHOWN = (1, 2, 3, 5, 10, 25, EPISODES)
NEAR = 1.5
NOTE = (
    f"Near the optimum: the mean length is at most {NEAR:g} times that of the last ten episodes "
    "with 50 updates. The shortest path has 14 steps, and one action in ten is random. The paper "
    "gives the algorithm without a result; the curve is that of Sutton and Barto's figure 8.2."
)
SHORTER = Statement("Sutton and Barto's maze: episodes are shorter with more planning updates")


def units(quick: bool) -> list[Unit]:
    """The lengths of episodes for each number of updates."""
    steps, seeds = (4000, 3) if quick else (16_000, 30)
    settings = {
        **{"maze": tabular.MAZE, "episode_limit": tabular.EPISODE_LIMIT, "seeds": seeds},
        **{"steps": steps, "episodes": EPISODES, "discount": tabular.DISCOUNT},
        **{"learning_rate": tabular.LEARNING_RATE, "exploration": tabular.EXPLORATION},
    }
    return [
        Unit(
            f"updates-{updates}",
            settings | {"planning_steps": updates},
            partial(_episodes, seeds, steps, updates),
        )
        for updates in UPDATES
    ]


def _episodes(seeds: int, steps: int, updates: int) -> Columns:
    """The lengths of the first training episodes, one row per seed and episode."""
    _, ended = tabular.train_seeds(seeds, steps, updates)
    return {
        "seed": np.repeat(np.arange(seeds, dtype=np.int32), EPISODES),
        "episode": np.tile(np.arange(1, EPISODES + 1, dtype=np.int32), seeds),
        "length": tabular.first_episodes(ended, EPISODES).ravel(),
    }


def lengths(stored: Stored) -> np.ndarray:
    """The length of each training episode, shape (seeds, EPISODES); NaN if not completed."""
    stored_lengths = stored.columns["length"].reshape(-1, EPISODES).astype(float)
    return np.where(stored_lengths > 0, stored_lengths, np.nan)


def analyse(units: dict[str, Stored]) -> Findings:
    """A curve for each number of updates, and comparisons of neighbours."""
    by_updates = {updates: lengths(units[f"updates-{updates}"]) for updates in UPDATES}
    at = np.arange(2, EPISODES + 1)
    curves = []
    for updates, steps in by_updates.items():
        style, label = LineStyle(UPDATES[updates][0]), f"{updates} updates per step"
        interval = bootstrap_interval(steps[:, 1:])
        curves.append(SeedCurve(at, steps[:, 1:], style, interval, label=label))
    panel = Panel("Dyna maze", Axis("episode"), Axis("steps", low=0), curves, legend=Legend())
    title = f"A1: tabular Dyna, {len(by_updates[0])} seeds"
    chart = Chart([panel], f"{title}, {SHADED}", panel_size=(7.0, 4.2))
    what = "mean steps of the episodes after the first: {} − {} updates per step"
    paper = "above 0 (own check, after Sutton and Barto)"
    means = {updates: np.nanmean(steps[:, 1:], axis=1) for updates, steps in by_updates.items()}
    comparisons = [
        Comparison(SHORTER, what.format(few, many), paper, means[few], means[many])
        for few, many in itertools.pairwise(UPDATES)
    ]
    table = [["updates per step", *(f"steps of episode {episode}" for episode in SHOWN)]]
    table[0] += ["first episode from which on they are near the optimum", "in the textbook"]
    optimum = np.nanmean(by_updates[50][:, -10:])
    for updates, steps in by_updates.items():
        each = [steps[np.isfinite(steps[:, e - 1]), e - 1] for e in SHOWN]
        above = np.flatnonzero(np.nanmean(steps, axis=0) > NEAR * optimum)
        near = [str(above.max(initial=-1) + 2), UPDATES[updates][1]]
        table.append([str(updates), *map(mean_with_interval, each), *near])
    return Findings(chart, judge(comparisons), table, (NOTE,))


PART = Part("A1", "tabular Dyna", "about a minute", units, analyse)
