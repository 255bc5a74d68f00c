"""The figure of a comparison: learning curves, performance profiles and differences."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freqdyna.results.chart import (
    Area,
    Axis,
    Chart,
    Legend,
    Line,
    LineStyle,
    Marker,
    Panel,
    Rule,
    SeedCurve,
)
from freqdyna.results.comparison.findings import (
    MEASURES,
    ComparedRun,
    EnvironmentComparison,
)
from freqdyna.results.statistics import bootstrap_interval

POINTS = 201
"""Points of a performance profile."""
INTERVAL = "95% interval"
WIDTH = 5.0
"""The width of a panel in inches."""
CHARACTER = 0.085
"""The width of a character of size 10 in inches."""


def comparison_chart(environments: Sequence[EnvironmentComparison]) -> Chart:
    """A row for each environment: learning curves, performance profiles and differences."""
    curves = [_curves_panel(environment) for environment in environments]
    longest = max(len(mark.label) for panel in curves for mark in panel.marks)
    columns = max(1, int(3 * WIDTH / (CHARACTER * longest + 0.7)))
    lines = max(-(-len(panel.marks) // columns) for panel in curves)
    panels = []
    for environment, panel in zip(environments, curves, strict=True):
        panels += [
            replace(panel, legend=Legend("below row", columns=columns)),
            profile_panel(environment),
            differences_panel(environment),
        ]
    return Chart(panels, columns=3, panel_size=(WIDTH, 4.0 + 0.22 * lines))


def profile_panel(environment: EnvironmentComparison) -> Panel:
    """The fraction of seeds whose measure is above τ, for every τ."""
    every = np.concatenate([run.scores for run in environment.runs])
    low, high = (every.min(), every.max()) if len(every) else (0.0, 1.0)
    margin = 0.05 * (high - low) or 1.0
    at = np.linspace(low - margin, high + margin, POINTS)
    return Panel(
        **_title(f"{environment.env}: performance profile"),
        x=Axis(f"{MEASURES[environment.measure]} τ"),
        y=Axis("fraction of seeds above τ", static_note=INTERVAL, low=-0.03, high=1.03),
        marks=[
            mark
            for place, run in enumerate(environment.runs, 1)
            for mark in _profile(f"{place}: {run.label}", run, at)
        ],
    )


def differences_panel(environment: EnvironmentComparison) -> Panel:
    """The difference of means of each pair, with its interval."""
    places = {id(run): place for place, run in enumerate(environment.runs, 1)}
    marks, ticks = [], []
    for row, pair in enumerate(environment.pairs):
        found = pair.mean_difference
        ticks.append((float(-row), f"{places[id(pair.first)]} − {places[id(pair.second)]}"))
        if not np.isfinite(found.value):
            continue
        color = "0.5" if pair.verdict == "undecided" else "black"
        if found.interval is not None:
            ends = np.array(found.interval)
            marks.append(Line(ends, np.full(2, float(-row)), LineStyle(color), width=2.5))
        dot = LineStyle(color, "none")
        marks.append(Line(np.array([found.value]), np.array([-row]), dot, marker="circle"))
    return Panel(
        **_title(f"{environment.env}: difference of {MEASURES[environment.measure]}"),
        x=Axis("difference", static_note=f"{INTERVAL}; grey: undecided"),
        y=Axis("pair", ticks=ticks, low=0.6 - len(ticks), high=0.4),
        marks=marks,
        rules=[Rule(0.0, upright=True, style=LineStyle("0.7", "dashed"))],
    )


def _curves_panel(environment: EnvironmentComparison) -> Panel:
    return Panel(
        **_title(environment.env),
        x=Axis("environment steps", si_prefixes=True),
        y=Axis("return", static_note=f"mean over seeds, {INTERVAL}"),
        marks=[
            _seed_curve(place, run, environment.steps, run.returns)
            for place, run in enumerate(environment.runs, 1)
        ],
    )


def _title(text: str) -> dict[str, Any]:
    """The title of a panel and its size, so that it is not wider than the panel."""
    return {"title": text, "title_size": min(12.0, WIDTH / CHARACTER / len(text) * 10.0)}


def _profile(name: str, run: ComparedRun, at: np.ndarray) -> list[Line | Area]:
    """The performance profile of a run at returns of shape (points,), with its interval."""
    above = (run.scores[:, None] > at).astype(np.float64)
    if not len(above):
        return []
    line = Line(at, above.mean(axis=0), run.style, series=name)
    if len(above) == 1:
        return [line]
    return [line, Area(at, *bootstrap_interval(above), run.style.color, series=name)]


def _seed_curve(
    place: int, run: ComparedRun, x: np.ndarray, values: np.ndarray
) -> SeedCurve | Line:
    """The mean of a run's seeds with its interval; only a name if no seed is left.

    Args:
        place: The number of the run in the tables.
        run: The run.
        x: Shape (points,).
        values: Shape (seeds, points).

    """
    label = f"{place}: {run.label} ({run.seeds.text('seeds')})"
    if not len(values):
        return Line(np.empty(0), np.empty(0), run.style, label=label)
    interval = bootstrap_interval(values) if len(values) > 1 else None
    marker: Marker = "circle" if len(x) == 1 else ""
    return SeedCurve(x, values, run.style, interval, label=label, marker=marker)
