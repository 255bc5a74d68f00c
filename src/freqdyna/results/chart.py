"""A chart as data: what analyses return, and what Matplotlib and the report's page draw.

Nothing is drawn here. `freqdyna.results.draw_matplotlib.draw` converts a chart to a Matplotlib
figure, and `freqdyna.report.charts.as_json` to what the report's page draws with Plotly.

Texts are plain Unicode, never TeX. Colours are any that Matplotlib accepts: names, "#rrggbb" or
a grey such as "0.5". Lengths are in points, as in Matplotlib.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Dash = Literal["solid", "dashed", "dotted", "dashdot", "none"]
Marker = Literal["", "circle", "square", "diamond", "triangle-up", "triangle-down", "cross"]
Interval = tuple[np.ndarray, np.ndarray]
"""Lower and upper ends, each of shape (points,)."""


@dataclass(frozen=True)
class LineStyle:
    """The colour and dashes of a line."""

    color: str
    dash: Dash = "solid"


@dataclass(frozen=True, kw_only=True)
class Named:
    """What a legend can name."""

    label: str = ""
    """The text in the legend; if empty, it is not in the legend."""
    series: str = ""
    """The name of the toggle on the report's page; if empty, the label is used."""

    @property
    def name(self) -> str:
        """The series that it belongs to; empty if there is none."""
        return self.series or self.label


@dataclass(frozen=True)
class SeedCurve(Named):
    """A curve for each seed, drawn as their mean with an interval."""

    x: np.ndarray
    """Shape (points,)."""
    values: np.ndarray
    """Shape (seeds, points)."""
    style: LineStyle
    interval: Interval | None = None
    """The interval of the mean, for static figures; the page computes it for the chosen seeds."""
    seeds: np.ndarray | None = None
    """The seeds, shape (seeds,); None for 0, 1, 2, ..."""
    shade: float = 0.2
    """Opacity of the interval."""
    marker: Marker = ""

    @property
    def mean(self) -> np.ndarray:
        """The mean over seeds, shape (points,)."""
        return np.asarray(self.values.mean(axis=0))


@dataclass(frozen=True)
class Line(Named):
    """Points connected by a line, or with markers, or both; without points only for the legend."""

    x: np.ndarray
    y: np.ndarray
    """Shape (points,), as `x`. Points that are not finite leave a gap."""
    style: LineStyle
    width: float = 1.5
    marker: Marker = ""
    marker_size: float = 6.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Points(Named):
    """Many small points, such as visited states."""

    x: np.ndarray
    y: np.ndarray
    """Shape (points,), as `x`."""
    color: str
    size: float = 3.0
    """The area of a point, in square points."""
    opacity: float = 1.0


@dataclass(frozen=True)
class Area(Named):
    """The area between two curves."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    """Shape (points,), as `x` and `low`."""
    color: str
    opacity: float = 0.2


@dataclass(frozen=True)
class Mesh(Named):
    """A function on a grid, shown by colours with a colour bar."""

    x: np.ndarray
    """Centres of the columns, shape (columns,)."""
    y: np.ndarray
    """Centres of the rows, shape (rows,)."""
    values: np.ndarray
    """Shape (rows, columns)."""
    ends: tuple[float, float]
    """The values of the first and the last colour."""
    log: bool = False
    """Whether colours are spaced by the logarithm of the values."""
    bar_label: str = ""


Mark = SeedCurve | Line | Points | Area | Mesh


@dataclass(frozen=True)
class Rule(Named):
    """A straight line from edge to edge."""

    at: float
    upright: bool = False
    """Whether it is vertical, at an x, rather than horizontal, at a y."""
    style: LineStyle = LineStyle("black")
    width: float = 1.5


@dataclass(frozen=True)
class Box(Named):
    """A rectangle with sides along the axes."""

    x: tuple[float, float] | None
    """The left and right end; None for the edges of the panel."""
    y: tuple[float, float] | None
    """The bottom and top; None for the edges of the panel."""
    color: str | None = None
    """The fill colour; None for no fill."""
    opacity: float = 1.0
    """The opacity of the fill."""
    edge: str | None = None
    """The colour of the outline; None for no outline."""
    above: bool = False
    """Whether it is drawn above the marks."""


@dataclass(frozen=True)
class Text:
    """A text centred above a point."""

    x: float
    y: float
    text: str
    size: float = 10.0


@dataclass(frozen=True)
class Axis:
    """One axis of a panel."""

    label: str = ""
    static_note: str = ""
    """Text in brackets after the label in static figures; not on the report's page, where readers
    choose the average that is shown."""
    log: bool = False
    low: float | None = None
    """The lower limit; None for slightly below everything that is drawn."""
    high: float | None = None
    """The upper limit; None for slightly above everything that is drawn. May be less than `low`."""
    is_reversed: bool = False
    """Whether an axis without `low` and `high` is reversed."""
    ticks: Sequence[tuple[float, str]] = ()
    """Positions and texts of ticks; if empty, the renderer chooses them."""
    si_prefixes: bool = False
    """Whether 20,000 is written 20k."""
    minor_grid: bool = False
    """Whether grid lines are also drawn between those of the ticks."""


@dataclass(frozen=True)
class Legend:
    """The position and the look of a panel's legend in static figures."""

    place: Literal[
        "best",
        "upper left",
        "upper right",
        "lower right",
        "center right",
        "above",
        "below",
        "below row",
    ] = "best"
    """"above" is outside the panel; "below" is below all panels of the chart, "below row" below
    those of its row."""
    size: float = 10.0
    """The size of the text."""
    columns: int = 1
    framed: bool = False


@dataclass(frozen=True)
class Panel:
    """A pair of axes and its content."""

    title: str = ""
    x: Axis = Axis()
    y: Axis = Axis()
    marks: Sequence[Mark] = ()
    rules: Sequence[Rule] = ()
    boxes: Sequence[Box] = ()
    texts: Sequence[Text] = ()
    legend: Legend | None = None
    """None for no legend. The report's page has toggles for all series instead."""
    title_size: float = 12.0
    is_map: bool = False
    """Whether it is a map of a state space: with a frame on all sides and without a grid."""
    is_blank: bool = False
    """Whether it has no axes, only texts."""


@dataclass(frozen=True)
class Chart:
    """A title and panels on a grid."""

    panels: Sequence[Panel]
    """Row by row; they must fill the grid."""
    title: str = ""
    static_note: str = ""
    """Text after the title in static figures; not on the report's page, where readers choose the
    average and whether its interval is shown."""
    columns: int | None = None
    """Panels per row; None for all of them."""
    panel_size: tuple[float, float] = (5.0, 4.0)
    """Width and height of a panel in inches, in static figures."""
    column_widths: Sequence[float] = ()
    """Relative widths of the columns; if empty, all are equal."""
    share_x: bool = False
    """Whether all panels have the same x axis."""
    share_y: bool = False
    """Whether all panels have the same y axis."""
