"""Charts drawn with Matplotlib, for files and notebooks."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis as MatplotlibAxis
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Rectangle
from matplotlib.ticker import EngFormatter, NullFormatter, NullLocator

from freqdyna.results.chart import (
    Area,
    Axis,
    Box,
    Chart,
    Legend,
    Line,
    LineStyle,
    Mark,
    Mesh,
    Panel,
    Points,
    Rule,
    SeedCurve,
)
from freqdyna.results.chart_limits import Limits, limits

DPI = 150
TICKS_PER_INCH = 1.8
"""At most so many ticks on an x axis, so that numbers such as −1,750 do not touch."""
ABOVE = 3
"""The z-order of boxes above the marks; Matplotlib draws areas and boxes at 1 and lines at 2."""
MARKERS = {
    "": "",
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "cross": "P",
}


def draw(chart: Chart) -> Figure:
    """The chart as a figure without a window, for files and notebooks."""
    columns = chart.columns or len(chart.panels)
    rows = -(-len(chart.panels) // columns)
    width, height = chart.panel_size
    figure = Figure(figsize=(width * columns, height * rows), dpi=DPI, layout="constrained")
    by_row = any(panel.legend and panel.legend.place == "below row" for panel in chart.panels)
    homes = figure.subfigures(rows, 1, squeeze=False)[:, 0] if by_row else [figure]
    grid = [
        (home, axes)
        for home in homes
        for axes in home.subplots(
            rows // len(homes),
            columns,
            sharex=chart.share_x,
            sharey=chart.share_y,
            squeeze=False,
            width_ratios=chart.column_widths or None,
        ).flat
    ]
    for (home, axes), panel, ends in zip(grid, chart.panels, limits(chart), strict=True):
        _draw_panel(home, axes, panel, *ends)
        if not (panel.x.log or panel.x.ticks):  # Matplotlib's choice is for shorter numbers
            inches = axes.get_position().width * width * columns
            axes.locator_params(axis="x", nbins=max(3, int(TICKS_PER_INCH * inches)))
    title = ", ".join(filter(None, (chart.title, chart.static_note)))
    if title:
        figure.suptitle(title, parse_math=False)
    return figure


def _draw_panel(figure: FigureBase, axes: Axes, panel: Panel, x: Limits, y: Limits) -> None:
    axes.set_title(panel.title, fontsize=panel.title_size, parse_math=False)
    axes.set_xlabel(_label(panel.x), parse_math=False)
    axes.set_ylabel(_label(panel.y), parse_math=False)
    axes.set_xscale("log" if panel.x.log else "linear")
    axes.set_yscale("log" if panel.y.log else "linear")
    for box in panel.boxes:
        _draw_box(axes, box)
    for mark in panel.marks:
        _draw_mark(figure, axes, mark)
    for rule in panel.rules:
        _draw_rule(axes, rule)
    for text in panel.texts:
        axes.text(text.x, text.y, text.text, ha="center", fontsize=text.size, parse_math=False)
    axes.set_xlim(*x)
    axes.set_ylim(*y)
    _finish_axis(axes.xaxis, panel.x, grid=not panel.is_map)
    _finish_axis(axes.yaxis, panel.y, grid=not panel.is_map)
    axes.spines[["top", "right"]].set_visible(panel.is_map)
    if panel.is_blank:
        axes.set_axis_off()
    if panel.legend is not None:
        _draw_legend(figure, axes, panel.legend)


def _label(axis: Axis) -> str:
    return f"{axis.label} ({axis.static_note})" if axis.static_note else axis.label


def _finish_axis(axis: MatplotlibAxis, given: Axis, grid: bool) -> None:
    if given.ticks:
        places, texts = zip(*given.ticks, strict=True)
        axis.set_ticks(places, texts, parse_math=False)
        axis.set_minor_locator(NullLocator())
    elif given.si_prefixes:
        axis.set_major_formatter(EngFormatter(sep=""))
    if given.log:
        axis.set_minor_formatter(NullFormatter())
    if grid:
        axis.grid(True, "both" if given.minor_grid else "major", alpha=0.3)


def _draw_mark(figure: FigureBase, axes: Axes, mark: Mark) -> None:
    label = mark.label or None
    match mark:
        case SeedCurve():
            line = Line(mark.x, mark.mean, mark.style, marker=mark.marker, label=mark.label)
            _draw_line(axes, line)
            if mark.interval is not None:
                low, high = mark.interval
                shading = _shading(mark.style.color, mark.shade)
                axes.fill_between(mark.x, low, high, **shading)
        case Line():
            _draw_line(axes, mark)
        case Points():
            shading = _shading(mark.color, mark.opacity)
            axes.scatter(mark.x, mark.y, mark.size, label=label, **shading)
        case Area():
            shading = _shading(mark.color, mark.opacity)
            axes.fill_between(mark.x, mark.low, mark.high, label=label, **shading)
        case Mesh():
            scale = LogNorm(*mark.ends) if mark.log else Normalize(*mark.ends)
            image = axes.pcolormesh(
                mark.x, mark.y, mark.values, shading="nearest", rasterized=True, norm=scale
            )
            figure.colorbar(image, ax=axes, label=mark.bar_label)


def _draw_line(axes: Axes, line: Line) -> None:
    axes.plot(
        line.x,
        line.y,
        **_line_style(line.style, line.width),
        marker=MARKERS[line.marker],
        markersize=line.marker_size,
        alpha=line.opacity,
        label=line.label or None,
    )


def _shading(color: str, opacity: float) -> dict[str, Any]:
    return {"color": color, "alpha": opacity, "linewidth": 0}


def _line_style(style: LineStyle, width: float) -> dict[str, Any]:
    return {"color": style.color, "linestyle": style.dash, "linewidth": width}


def _draw_rule(axes: Axes, rule: Rule) -> None:
    line = axes.axvline if rule.upright else axes.axhline
    line(rule.at, label=rule.label or None, **_line_style(rule.style, rule.width))


def _draw_box(axes: Axes, box: Box) -> None:
    across = {(True, False): axes.get_yaxis_transform(), (False, True): axes.get_xaxis_transform()}
    (left, right), (bottom, top) = box.x or (0, 1), box.y or (0, 1)
    axes.add_patch(
        Rectangle(
            (left, bottom),
            right - left,
            top - bottom,
            facecolor=(box.color, box.opacity) if box.color else "none",
            edgecolor=box.edge or "none",
            linewidth=1.5 if box.edge else 0,
            zorder=ABOVE if box.above else 1,
            label=box.label or None,
            transform=across.get((box.x is None, box.y is None), axes.transData),
        )
    )


def _draw_legend(figure: FigureBase, axes: Axes, legend: Legend) -> None:
    look: dict[str, Any] = {
        "fontsize": legend.size,
        "ncols": legend.columns,
        "frameon": legend.framed,
        "framealpha": 1.0,
    }
    match legend.place:
        case "below" | "below row":
            handles, labels = axes.get_legend_handles_labels()
            made = figure.legend(handles, labels, loc="outside lower center", **look)
        case "above":
            made = axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), **look)
        case _:
            made = axes.legend(loc=legend.place, **look)
    for text in made.get_texts():
        text.set_parse_math(False)
