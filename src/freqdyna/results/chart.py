"""A chart as data: what analyses return, and what Matplotlib and the report's page draw.

Nothing here draws. `freqdyna.results.draw_matplotlib.draw` makes a Matplotlib figure of a chart,
and `freqdyna.report.charts.as_json` what the report's page draws with Plotly.

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
    """The text in the legend; empty: it is not in the legend."""
    series: str = ""
    """The switch of the report's page that shows and hides it; empty: that of its label."""

    @property
    def name(self) -> str:
        """The series it belongs to; empty if it belongs to none."""
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
    """Of the mean, shaded in a static picture; the page computes its own of the seeds chosen."""
    seeds: np.ndarray | None = None
    """The number of each seed, shape (seeds,); None: they are numbered from 0."""
    shade: float = 0.2
    """Opacity of the interval."""
    marker: Marker = ""

    @property
    def mean(self) -> np.ndarray:
        """Over seeds, shape (points,)."""
        return np.asarray(self.values.mean(axis=0))


@dataclass(frozen=True)
class Line(Named):
    """Points connected by a line, or marked, or both. Without points it is for the legend alone."""

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
    """From where to where; None: from edge to edge."""
    y: tuple[float, float] | None
    """As `x`."""
    color: str | None = None
    """Of its inside; None: it is not filled."""
    opacity: float = 1.0
    """Of its inside."""
    edge: str | None = None
    """Colour of its outline; None: it has none."""
    above: bool = False
    """Whether it covers the marks rather than lying below them."""


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
    """Follows the label in brackets in a static picture, but not on the report's page, where
    readers choose which average they see."""
    log: bool = False
    low: float | None = None
    """Where it begins; None: below all that is drawn."""
    high: float | None = None
    """Where it ends; None: above all that is drawn. May be less than `low`."""
    is_reversed: bool = False
    """Whether an axis without `low` and `high` runs from its greatest value to its least."""
    ticks: Sequence[tuple[float, str]] = ()
    """Places and their texts; empty: chosen by the renderer."""
    si_prefixes: bool = False
    """Whether 20,000 is written 20k."""
    minor_grid: bool = False
    """Whether grid lines are also drawn between those of the ticks."""


@dataclass(frozen=True)
class Legend:
    """Where a panel's legend stands, and how it looks, in a static picture."""

    place: Literal[
        "best", "upper left", "upper right", "lower right", "center right", "above", "below"
    ] = "best"
    """"above" is outside the panel; "below" is below all panels of the chart."""
    size: float = 10.0
    """Of its text."""
    columns: int = 1
    framed: bool = False


@dataclass(frozen=True)
class Panel:
    """A pair of axes and what is drawn in it."""

    title: str = ""
    x: Axis = Axis()
    y: Axis = Axis()
    marks: Sequence[Mark] = ()
    rules: Sequence[Rule] = ()
    boxes: Sequence[Box] = ()
    texts: Sequence[Text] = ()
    legend: Legend | None = None
    """None: without a legend. The report's page has switches for all series instead."""
    title_size: float = 12.0
    is_map: bool = False
    """Whether it shows a space seen from above: framed on all sides, without a grid."""
    is_blank: bool = False
    """Whether it has no axes, only texts."""


@dataclass(frozen=True)
class Chart:
    """A title and panels on a grid."""

    panels: Sequence[Panel]
    """Row by row; they must fill the grid."""
    title: str = ""
    static_note: str = ""
    """Follows the title in a static picture, but not on the report's page, where readers choose
    the average and whether its interval is shaded."""
    columns: int | None = None
    """Panels in a row; None: all of them."""
    panel_size: tuple[float, float] = (5.0, 4.0)
    """Width and height of a panel in inches, in a static picture."""
    column_widths: Sequence[float] = ()
    """Relative widths of the columns; empty: all alike."""
    share_x: bool = False
    """Whether all panels have the same x axis."""
    share_y: bool = False
    """Whether all panels have the same y axis."""
