"""What Matplotlib makes of charts: here, and only here, its artists are looked at."""

import io

import numpy as np
from matplotlib.colors import LogNorm, to_hex

from freqdyna.results.chart import (
    Area,
    Axis,
    Chart,
    Legend,
    Line,
    LineStyle,
    Mesh,
    Panel,
    SeedCurve,
    dots,
)
from freqdyna.results.draw import draw

RED = LineStyle("red", "dashed")
X = np.array([1.0, 10.0])


def axes_of(*marks, **more):
    (axes, *_) = draw(Chart([Panel(marks=marks, **more)])).axes
    return axes


def test_a_curve_of_seeds_is_their_mean_with_its_interval():
    values = np.array([[0.0, 1.0], [2.0, 3.0]])
    interval = np.array([0.5, 1.5]), np.array([1.5, 2.5])
    axes = axes_of(SeedCurve(X, values, RED, interval, label="A"))
    (line,), (shaded,) = axes.lines, axes.collections
    np.testing.assert_array_equal(line.get_ydata(), [1, 2])
    assert (line.get_label(), line.get_color(), line.get_linestyle()) == ("A", "red", "--")
    shown = shaded.get_paths()[0].get_extents()
    assert (shown.y0, shown.y1) == (0.5, 2.5)


def test_marks_of_every_kind_are_drawn():
    axes = axes_of(
        Line(X, 2 * X, LineStyle("black", "none"), marker="square"),
        dots(X, 3 * X, "blue"),
        Area(X, np.zeros(2), np.ones(2), "green"),
        Mesh(X, np.array([0.0, 2.0]), np.array([[1.0, 10.0], [100.0, 1000.0]]), (1, 1000), True),
    )
    (line, points), (area, mesh) = axes.lines, axes.collections
    assert (line.get_marker(), line.get_linestyle()) == ("s", "None")
    np.testing.assert_array_equal(points.get_xydata(), np.stack([X, 3 * X], -1))
    assert to_hex(area.get_facecolor()[0]) == to_hex("green")
    np.testing.assert_array_equal(mesh.get_array(), [[1, 10], [100, 1000]])
    assert isinstance(mesh.norm, LogNorm)
    assert len(axes.figure.axes) == 2  # the second is the colour bar


def test_axes_are_as_told():
    axes = axes_of(
        Line(X, X, RED),
        x=Axis("steps", log=True, ticks=[(1, "one"), (10, "ten")]),
        y=Axis("return", low=20, high=0),
    )
    assert axes.get_xscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["one", "ten"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps", "return")
    assert axes.get_ylim() == (20, 0)


def test_the_legend_names_what_has_a_label_and_reads_no_tex():
    chart = Chart(
        [
            Panel(
                title="$100 a step",
                marks=[Line(X, X, RED, label="costs $5 or $6"), Line(X, X, RED)],
                legend=Legend("below", columns=3),
            )
        ],
        "a $title$",
    )
    figure = draw(chart)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["costs $5 or $6"]
    assert figure.get_suptitle() == "a $title$"
    assert not figure.axes[0].title.get_parse_math()
    figure.savefig(io.BytesIO())  # would fail if a formula were read


def test_panels_fill_a_grid_and_share_axes():
    panels = [Panel(str(i), marks=[Line(X, i * X, RED)]) for i in range(4)]
    chart = Chart(panels, columns=2, panel_size=(3, 2), share_y=True)
    figure = draw(chart)
    assert figure.get_size_inches().tolist() == [6, 4]
    assert [axes.get_title() for axes in figure.axes] == ["0", "1", "2", "3"]
    ((low, high),) = {axes.get_ylim() for axes in figure.axes}
    assert low <= 0
    assert high >= 30  # of the last panel
