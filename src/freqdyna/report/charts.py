"""A Matplotlib figure as data that the report's charts draw: the same picture, made interactive."""

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator

from freqdyna.experiments.drawing import PART_OF
from freqdyna.report.section import Json
from freqdyna.results.seed_curve import SeedCurve

DIGITS = 4
"""Significant digits of every number: more than a screen can show."""
MOST = 200
"""Evaluations of a curve that are drawn; of longer ones every second, every third, ..."""
SIGNS = {r"\int": "∫", r"\pi": "π", "^2": "²", r"\,": " ", r"\mathrm": "", r"\leq": "≤"}
"""What TeX writes otherwise, in the titles of our figures."""
DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
SYMBOLS = {"s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down", "P": "cross"}


def chart(figure: Figure) -> Json:
    """The figure's title and panels."""
    # A colour bar belongs to its mesh, which is drawn with one of its own.
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    # What is shaded is up to the page, which says it by itself.
    title = re.sub(r", shaded: .*", "", plain(figure.get_suptitle()))
    return {"title": title, "panels": [_panel(axes) for axes in panels]}


def plain(text: str) -> str:
    """A text without the marks of TeX."""

    def inside(found: re.Match[str]) -> str:
        formula = found[1]
        for mark, sign in SIGNS.items():
            formula = formula.replace(mark, sign)
        return re.sub(r"[\\{}]", "", formula)

    return re.sub(r"\$([^$]*)\$", inside, text)


def rounded(values: Any) -> list[Any]:
    """Numbers to a few digits, as nested lists; None for those that are not finite."""
    array = np.asarray(values, np.float64)
    if array.ndim > 1:
        return [rounded(row) for row in array]
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in array.tolist()]


def _panel(axes: Axes) -> Json:
    # A line without points is there for Matplotlib's legend alone.
    lines = [line for line in axes.lines if _in_data(axes, line) and np.size(line.get_xdata())]
    remembered = [line for line in lines if isinstance(line, SeedCurve)]
    return {
        "title": plain(axes.get_title()) if axes.title.get_parse_math() else axes.get_title(),
        "x": _axis(axes, "x"),
        "y": _axis(axes, "y"),
        "equal": axes.get_aspect() == 1.0,
        "marks": [
            *(_mesh(mesh) for mesh in axes.collections if isinstance(mesh, QuadMesh)),
            *(_points(points) for points in axes.collections if isinstance(points, PathCollection)),
            # The page shades the interval of the seeds that it shows.
            *(
                _area(area)
                for area in axes.collections
                if isinstance(area, PolyCollection) and not remembered
            ),
            *(_line(line) for line in lines),
        ],
        "rules": [_rule(axes, line) for line in axes.lines if not _in_data(axes, line)],
        "boxes": [_box(axes, patch) for patch in axes.patches if isinstance(patch, Rectangle)],
        "texts": [
            {"x": float(x), "y": float(y), "text": plain(text.get_text())}
            for text in axes.texts
            for x, y in [text.get_position()]
        ],
    }


def _axis(axes: Axes, name: str) -> Json:
    axis = axes.xaxis if name == "x" else axes.yaxis
    limits = axes.get_xlim() if name == "x" else axes.get_ylim()
    found: Json = {
        # Which average is shown is up to the page.
        "label": re.sub(r" \(mean over seeds.*\)", "", plain(axis.get_label_text())),
        "log": axis.get_scale() == "log",
        "range": rounded(limits),
    }
    locator = axis.get_major_locator()
    if isinstance(locator, FixedLocator):  # ticks with texts of their own
        at = np.asarray(locator())
        texts = axis.get_major_formatter().format_ticks(at.tolist())
        found["ticks"] = {"at": rounded(at), "texts": [plain(text) for text in texts]}
    return found


def _line(line: Line2D) -> Json:
    x, y = line.get_xdata(), line.get_ydata()
    marked = line.get_marker() not in ("None", None, "", " ")
    drawn = str(line.get_linestyle()) != "None"
    mark: Json = {
        "kind": "line",
        "label": _label(line),
        "color": to_hex(line.get_color()),
        "dash": DASHES.get(str(line.get_linestyle()), "solid"),
        "width": line.get_linewidth(),
        "symbol": SYMBOLS.get(str(line.get_marker()), "circle"),
        "mode": "lines+markers" if marked and drawn else "markers" if marked else "lines",
        "x": rounded(x),
        "y": rounded(y),
    }
    if isinstance(line, SeedCurve):
        every = -(-line.values.shape[1] // MOST)
        kept = slice(every - 1, None, every)  # the last one too, where their number allows it
        mark |= {"kind": "seeds", "every": every, "seeds": rounded(line.values[:, kept])}
        mark["numbers"] = line.seeds.tolist()
        mark["x"] = rounded(np.asarray(x)[kept])
        del mark["y"]
    return mark


def _points(points: PathCollection) -> Json:
    x, y = np.asarray(points.get_offsets()).T
    colors = points.get_facecolor()
    color = to_hex(np.asarray(colors)[0])
    return {"kind": "points", "label": _label(points), "color": color} | {
        "x": rounded(x),
        "y": rounded(y),
    }


def _area(area: PolyCollection) -> Json:
    x, y = np.asarray(area.get_paths()[0].vertices).T
    color = to_hex(np.asarray(area.get_facecolor())[0])
    return {"kind": "area", "label": "", "color": color, "x": rounded(x), "y": rounded(y)}


def _mesh(mesh: QuadMesh) -> Json:
    corners = np.asarray(mesh.get_coordinates())
    x, y = (
        (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2,
        (corners[:-1, 0, 1] + corners[1:, 0, 1]) / 2,
    )
    values = np.asarray(mesh.get_array())
    logarithmic = isinstance(mesh.norm, LogNorm)
    ends = np.array([mesh.norm.vmin, mesh.norm.vmax], np.float64)
    return {"kind": "mesh", "label": "", "log": logarithmic, "ends": rounded(ends)} | {
        "x": rounded(x),
        "y": rounded(y),
        "z": rounded(values),
    }


def _rule(axes: Axes, line: Line2D) -> Json:
    """A line from edge to edge, as `axhline` and `axvline` draw them."""
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    upright = line.get_transform() == axes.get_xaxis_transform(which="grid")
    return {
        "at": float((x if upright else y)[0]),
        "upright": bool(upright),
        "label": _label(line),
        "color": to_hex(line.get_color()),
        "dash": DASHES.get(str(line.get_linestyle()), "solid"),
    }


def _box(axes: Axes, patch: Rectangle) -> Json:
    (x0, y0), (x1, y1) = patch.get_bbox().get_points()
    fill: Any = patch.get_facecolor()
    edge: Any = patch.get_edgecolor()
    filled, edged = patch.get_fill() and fill[3] > 0, edge[3] > 0 and patch.get_linewidth() > 0
    spans = {"x": axes.get_yaxis_transform(which="grid"), "y": axes.get_xaxis_transform("grid")}
    return {
        "label": _label(patch),
        "corners": rounded([x0, y0, x1, y1]),
        # From edge to edge, as `axhspan` and `axvspan` draw them.
        "across": next((n for n, t in spans.items() if patch.get_data_transform() == t), None),
        "color": to_hex(fill) if filled else None,
        "opacity": round(float(fill[3]), 2),
        "edge": to_hex(edge) if edged else None,
        "above": patch.get_zorder() > 2,
    }


def _in_data(axes: Axes, line: Line2D) -> bool:
    return line.get_transform() == axes.transData


def _label(artist: Any) -> str:
    """The name of a mark, what the legend says, or what it belongs to; empty if none is told."""
    label = plain(str(artist.get_gid() or artist.get_label()))
    if label.startswith(PART_OF):
        return label.removeprefix(PART_OF)
    return "" if label.startswith("_") else label
