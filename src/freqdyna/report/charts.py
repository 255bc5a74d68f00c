"""The content of a report, and its charts, as the JSON that the page draws (`assets/charts.js`)."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from freqdyna.results.chart import Axis, Chart, Dash, Line, Mark, Mesh, Panel, SeedCurve

MOST = 200
"""The maximum number of evaluations of a curve; longer curves keep every second, third, ..."""
MOST_VALUES = 6000
"""The maximum number of evaluations of all seeds of a curve; it is shortened in the same way."""
DASHES: dict[Dash, str] = {"dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
"""Plotly's names; all others are "solid"."""
Json = dict[str, Any]
Table = list[list[str]]
"""Rows of cells, the header first."""


@dataclass(frozen=True)
class Section:
    """A figure with its tables and notes."""

    name: str
    title: str
    lead: list[str] = field(default_factory=list)
    """Sentences above everything else."""
    command: str = ""
    """The command that computes the same numbers."""
    chart: Json | None = None
    tables: dict[str, Table] = field(default_factory=dict)
    """The tables by their headings."""
    notes: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    """The provenance of the numbers: command, commit, machine, date."""


@dataclass(frozen=True)
class Report:
    """Everything that the page shows."""

    title: str
    command: str
    """The command that wrote the report."""
    written: str
    """When it was written, and by which version."""
    sections: list[Section]
    explorers: list[Json]


def as_json(chart: Chart) -> Json:
    """The chart's title and panels, without what only applies to static figures."""
    return {"title": chart.title, "panels": [_panel(panel) for panel in chart.panels]}


def rounded(values: Any) -> list[Any]:
    """Numbers with four digits, as nested lists; None for those that are not finite.

    Integers have no decimal point, which makes a report a fifth smaller.
    """

    def short(value: float) -> float | None:
        if not math.isfinite(value):
            return None
        number = float(f"{value:.4g}")
        return int(number) if number.is_integer() else number

    nested: list[Any] = np.vectorize(short, [object])(np.asarray(values, np.float64)).tolist()
    return nested


def _panel(panel: Panel) -> Json:
    return {
        "title": panel.title,
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "marks": [_mark(mark) for mark in panel.marks if np.size(mark.x)],
    }


def _axis(axis: Axis) -> Json:
    drawn: Json = {"label": axis.label, "log": axis.log}
    if (axis.low, axis.high) != (None, None):  # otherwise Plotly chooses
        drawn["range"] = rounded([axis.low, axis.high])
    if axis.ticks:
        places, texts = zip(*axis.ticks, strict=True)
        drawn["ticks"] = {"at": rounded(places), "texts": list(texts)}
    return drawn


def _mark(mark: Mark) -> Json:
    if isinstance(mark, SeedCurve):
        every = max(-(-mark.values.shape[1] // MOST), -(-mark.values.size // MOST_VALUES))
        kept = slice(every - 1, None, every)  # includes the last one if their number allows it
        seeds = np.arange(len(mark.values)) if mark.seeds is None else mark.seeds
        return _line("seeds", mark, mark.x[kept]) | {
            "seeds": rounded(mark.values[:, kept]),
            "numbers": seeds.tolist(),
            "every": every,
        }
    if isinstance(mark, Line):
        return _line("line", mark, mark.x) | {"width": mark.width, "y": rounded(mark.y)}
    if isinstance(mark, Mesh):
        shown = {"x": rounded(mark.x), "y": rounded(mark.y), "values": rounded(mark.values)}
        return {"kind": "mesh", **shown, "ends": rounded(mark.ends)}
    return {
        "kind": "area",
        "label": mark.label,
        "color": to_hex(mark.color),
        "x": rounded(np.concatenate([mark.x, mark.x[::-1]])),
        "y": rounded(np.concatenate([mark.high, mark.low[::-1]])),
    }


def _line(kind: str, mark: Line | SeedCurve, x: np.ndarray) -> Json:
    parts = ["lines"] * (mark.style.dash != "none") + ["markers"] * bool(mark.marker)
    return {
        "kind": kind,
        "label": mark.label,
        "x": rounded(x),
        "color": to_hex(mark.style.color),
        "dash": DASHES.get(mark.style.dash, "solid"),
        "mode": "+".join(parts),
        "symbol": mark.marker or "circle",
    }
