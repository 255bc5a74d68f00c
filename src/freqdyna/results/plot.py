"""Charts of learning curves, and of comparisons: curves, performance profiles and differences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from freqdyna.core.errors import FreqdynaError
from freqdyna.results.chart import (
    Area,
    Axis,
    Chart,
    Legend,
    Line,
    LineStyle,
    Marker,
    Panel,
    SeedCurve,
    record_labels,
    run_styles,
)
from freqdyna.results.draw import draw
from freqdyna.results.measures import MEASURES, ComparedRun, EnvironmentComparison
from freqdyna.results.record import Record, return_name
from freqdyna.results.statistics import bootstrap_interval

POINTS = 201
"""Points of a performance profile."""
SHADED = "mean over seeds, 95% interval"
"""What a static figure shows; on the report's page, readers choose."""
X_LABELS = {"steps": "environment steps", "seconds": "seconds of training"}


def plot_curves(results: Sequence[Record], metric: str = "return", x: str = "steps") -> Figure:
    """Learning curves over "steps" or "seconds" as a figure; every run must have the metric."""
    return draw(replace(curves_chart(results, metric, x), title=SHADED))


def curves_chart(results: Sequence[Record], metric: str = "return", x: str = "steps") -> Chart:
    """The chart of `plot_curves`, one panel for each environment."""
    for result in results:
        if metric not in result.metrics:
            raise FreqdynaError(
                f"metric is {metric!r}; it must be one that {result.config.agent_name} on "
                f"{result.env_name} has: {', '.join(result.metrics)}"
            )
    labels = record_labels(results)
    styles = run_styles([result.config for result in results], labels)
    panels = [
        Panel(
            title=name,
            x=Axis(X_LABELS[x]),
            y=Axis(return_name(results) if metric == "return" else metric),
            marks=[
                _curve(result, metric, x, label, style)
                for result, label, style in zip(results, labels, styles, strict=True)
                if result.env_name == name
            ],
            legend=Legend(),
        )
        for name in dict.fromkeys(result.env_name for result in results)
    ]
    return Chart(panels, panel_size=(6.4, 4.4))


def _curve(result: Record, metric: str, x: str, label: str, style: LineStyle) -> SeedCurve | Line:
    complete = result.complete_seeds
    values = result.metrics[metric][complete.kept]
    known = np.isfinite(values).all(axis=0)  # there is no loss during the warm-up, for example
    seeds, text = result.seeds[complete.kept], f"{label} ({complete.text('seeds')})"
    return _seed_curve(result.along(x)[known], values[:, known], style, text, seeds)


def _seed_curve(
    x: np.ndarray, values: np.ndarray, style: LineStyle, label: str, seeds: np.ndarray | None = None
) -> SeedCurve | Line:
    """The mean of values of shape (seeds, points) with its interval; without any, only a name."""
    if not values.size:
        return Line(np.empty(0), np.empty(0), style, label=label)
    interval = bootstrap_interval(values) if len(values) > 1 else None
    marker: Marker = "circle" if len(x) == 1 else ""
    return SeedCurve(x, values, style, interval, seeds, label=label, marker=marker)


def comparison_chart(environments: Sequence[EnvironmentComparison]) -> Chart:
    """A row for each environment: learning curves, performance profiles and differences."""
    kinds = _curves_panel, profile_panel, differences_panel
    panels = [replace(kind(one), title_size=9.0) for one in environments for kind in kinds]
    most = max(len(environment.runs) for environment in environments)
    title = "95% intervals over seeds; differences in grey are undecided"
    return Chart(panels, title, columns=3, panel_size=(5.0, 4.0 + 0.11 * most))


def profile_panel(environment: EnvironmentComparison) -> Panel:
    """The fraction of seeds whose measure is above τ, for every τ."""
    every = np.concatenate([run.scores for run in environment.runs])
    low, high = (every.min(), every.max()) if len(every) else (0.0, 1.0)
    margin = 0.05 * (high - low) or 1.0
    at = np.linspace(low - margin, high + margin, POINTS)
    return Panel(
        f"{environment.env}: performance profile",
        x=Axis(f"{MEASURES[environment.measure]} τ"),
        y=Axis("fraction of seeds above τ", low=-0.03, high=1.03),
        marks=[
            mark
            for place, run in enumerate(environment.runs, 1)
            for mark in _profile(f"{place}: {run.label}", run, at)
        ],
    )


def differences_panel(environment: EnvironmentComparison) -> Panel:
    """The difference of means of each pair, with its interval."""
    places = {id(run): place for place, run in enumerate(environment.runs, 1)}
    bottom, top = 0.6 - len(environment.pairs), 0.4
    marks = [Line(np.zeros(2), np.array([bottom, top]), LineStyle("0.7", "dashed"))]
    ticks = []
    for row, pair in enumerate(environment.pairs):
        difference = pair.mean_difference
        ticks.append((float(-row), f"{places[id(pair.first)]} − {places[id(pair.second)]}"))
        if not np.isfinite(difference.value):
            continue
        color = "0.5" if pair.verdict == "undecided" else "black"
        if difference.interval is not None:
            ends = np.array(difference.interval)
            marks.append(Line(ends, np.full(2, float(-row)), LineStyle(color), width=2.5))
        dot = LineStyle(color, "none")
        marks.append(Line(np.array([difference.value]), np.array([-row]), dot, marker="circle"))
    return Panel(
        f"{environment.env}: difference of {MEASURES[environment.measure]}",
        x=Axis("difference (grey: undecided)"),
        y=Axis("pair", ticks=ticks, low=bottom, high=top),
        marks=marks,
    )


def _curves_panel(environment: EnvironmentComparison) -> Panel:
    labels = [
        f"{place}: {run.label} ({run.seeds.text('seeds')})"
        for place, run in enumerate(environment.runs, 1)
    ]
    return Panel(
        environment.env,
        x=Axis(X_LABELS[environment.x]),
        y=Axis("return"),
        marks=[
            _seed_curve(environment.steps, run.returns, run.style, label)
            for run, label in zip(environment.runs, labels, strict=True)
        ],
        # Two labels of more than 75 characters do not fit into a row.
        legend=Legend("below row", columns=1 if max(map(len, labels)) > 75 else 2),
    )


def _profile(name: str, run: ComparedRun, at: np.ndarray) -> list[Line | Area]:
    """The performance profile of a run at returns of shape (points,), with its interval."""
    above = (run.scores[:, None] > at).astype(np.float64)
    if not len(above):
        return []
    line = Line(at, above.mean(axis=0), run.style, label=name)
    if len(above) == 1:
        return [line]
    return [line, Area(at, *bootstrap_interval(above), run.style.color, label=name)]
