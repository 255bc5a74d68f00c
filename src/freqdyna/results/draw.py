"""Charts drawn with Matplotlib, for files and notebooks."""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis as MatplotlibAxis
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure, FigureBase
from matplotlib.ticker import EngFormatter, NullFormatter, NullLocator

from freqdyna.results.chart import Area, Axis, Chart, Legend, Line, Mark, Mesh, Panel, SeedCurve
from freqdyna.results.folder import write_output

DPI = 150
MOST_TICKS = 6
"""At most so many intervals on an x axis, so that numbers such as −1,750 do not touch."""
LARGE = 10_000
"""From this number on, an axis has prefixes: 20k instead of 20000."""
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
    parts = figure.subfigures(rows, 1, squeeze=False)[:, 0] if by_row else [figure]
    grid = [
        (part, axes)
        for part in parts
        for axes in part.subplots(
            rows // len(parts), columns, sharey=chart.share_y, squeeze=False
        ).flat
    ]
    for (part, axes), panel in zip(grid, chart.panels, strict=True):
        _draw_panel(part, axes, panel)
        if not (panel.x.log or panel.x.ticks):  # Matplotlib's choice is for shorter numbers
            axes.locator_params(axis="x", nbins=MOST_TICKS)
    if chart.title:
        figure.suptitle(chart.title, parse_math=False)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure, in the format of the file's ending."""
    write_output(path, lambda file: figure.savefig(file, format=path.suffix[1:]))


def _draw_panel(figure: FigureBase, axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=panel.title_size, parse_math=False)
    axes.set_xlabel(panel.x.label, parse_math=False)
    axes.set_ylabel(panel.y.label, parse_math=False)
    axes.set_xscale("log" if panel.x.log else "linear")
    axes.set_yscale("log" if panel.y.log else "linear")
    for mark in panel.marks:
        _draw_mark(figure, axes, mark)
    for axis, set_limits in ((panel.x, axes.set_xlim), (panel.y, axes.set_ylim)):
        if (axis.low, axis.high) != (None, None):  # otherwise a shared axis would stop growing
            set_limits(axis.low, axis.high)
    _finish_axis(axes.xaxis, panel.x, grid=not panel.is_map)
    _finish_axis(axes.yaxis, panel.y, grid=not panel.is_map)
    axes.spines[["top", "right"]].set_visible(panel.is_map)
    if panel.legend is not None:
        _draw_legend(figure, axes, panel.legend)


def _finish_axis(axis: MatplotlibAxis, settings: Axis, grid: bool) -> None:
    if settings.ticks:
        places, texts = zip(*settings.ticks, strict=True)
        axis.set_ticks(places, texts, parse_math=False)
        axis.set_minor_locator(NullLocator())
    elif settings.log:
        axis.set_minor_formatter(NullFormatter())
    elif max(map(abs, axis.get_view_interval())) >= LARGE:
        axis.set_major_formatter(EngFormatter(sep=""))
    if grid:
        axis.grid(True, alpha=0.3)


def _draw_mark(figure: FigureBase, axes: Axes, mark: Mark) -> None:
    label = mark.label or None
    match mark:
        case SeedCurve():
            line = Line(mark.x, mark.mean, mark.style, marker=mark.marker, label=mark.label)
            _draw_mark(figure, axes, line)
            if mark.interval is not None:
                _draw_mark(figure, axes, Area(mark.x, *mark.interval, mark.style.color))
        case Line():
            axes.plot(
                mark.x,
                mark.y,
                color=mark.style.color,
                linestyle=mark.style.dash,
                linewidth=mark.width,
                marker=MARKERS[mark.marker],
                markersize=mark.marker_size,
                markeredgewidth=0,
                alpha=mark.opacity,
                label=label,
            )
        case Area():
            look: dict[str, Any] = {"color": mark.color, "alpha": mark.opacity, "linewidth": 0}
            axes.fill_between(mark.x, mark.low, mark.high, label=label, **look)
        case Mesh():
            scale = LogNorm(*mark.ends) if mark.log else Normalize(*mark.ends)
            image = axes.pcolormesh(
                mark.x, mark.y, mark.values, shading="nearest", rasterized=True, norm=scale
            )
            figure.colorbar(image, ax=axes, label=mark.bar_label)


def _draw_legend(figure: FigureBase, axes: Axes, legend: Legend) -> None:
    look: dict[str, Any] = {"fontsize": legend.size, "ncols": legend.columns, "frameon": False}
    if legend.place == "below" or legend.place == "below row":
        handles, labels = axes.get_legend_handles_labels()
        drawn = figure.legend(handles, labels, loc="outside lower center", **look)
    else:
        drawn = axes.legend(loc=legend.place, **look)
    for text in drawn.get_texts():
        text.set_parse_math(False)
