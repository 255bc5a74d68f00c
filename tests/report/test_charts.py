import json

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from freqdyna.experiments.drawing import PART_OF
from freqdyna.report.charts import chart, plain, rounded
from freqdyna.results.seed_curve import draw_curve


def panel_of(draw):
    """The only panel of a figure, after a round trip through JSON."""
    figure = Figure()
    draw(figure.subplots())
    return json.loads(json.dumps(chart(figure)))["panels"][0]


def test_curves_keep_every_seed_and_leave_the_interval_to_the_page():
    values = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 7.0]])

    def draw(axes):
        draw_curve(axes, np.arange(3), values, (values[0], values[1]), 0.2, color="red", label="A")
        axes.set_ylim(-1, 8)

    panel = panel_of(draw)
    (mark,) = panel["marks"]
    assert (mark["kind"], mark["label"], mark["color"]) == ("seeds", "A", "#ff0000")
    assert mark["seeds"] == values.tolist()
    assert panel["y"]["range"] == [-1, 8]


def test_marks_of_every_kind_keep_their_numbers():
    def draw(axes):
        axes.plot([1, 10], [2, 20], "s--", color="black", label="line")
        axes.scatter([3], [4], color="blue", label="in the legend", gid="in the page")
        axes.fill_between([0, 1], [0, 0], [1, 1], color="green")
        axes.pcolormesh([0, 1], [0, 2], [[1.0, 10.0], [100.0, 1000.0]], norm=LogNorm(1, 1000))
        axes.axhline(5, linestyle=":", label="level")
        axes.axvline(6)
        axes.add_patch(Rectangle((0, 1), 2, 3, facecolor="red", edgecolor="none"))
        axes.axhspan(2, 3, alpha=0.4, label="band")
        axes.text(7, 8, "here")
        axes.set_xscale("log")
        axes.set_yticks([0, 1], ["low", "high"])

    panel = panel_of(draw)
    mesh, points, area, line = panel["marks"]
    assert (line["x"], line["y"], line["dash"], line["mode"]) == (
        *([1, 10], [2, 20]),
        *("dash", "lines+markers"),
    )
    assert (line["symbol"], points["label"]) == ("square", "in the page")
    assert (points["x"], points["y"], points["color"]) == ([3], [4], "#0000ff")
    assert set(area["y"]) == {0, 1}
    assert (mesh["x"], mesh["y"], mesh["log"], mesh["ends"]) == ([0, 1], [0, 2], True, [1, 1000])
    assert mesh["z"] == [[1, 10], [100, 1000]]
    level, upright = panel["rules"]
    assert (level["at"], level["upright"], level["label"]) == (5, False, "level")
    assert (upright["at"], upright["upright"]) == (6, True)
    assert panel["boxes"][0]["corners"] == [0, 1, 2, 4]
    box, band = panel["boxes"]
    assert (box["color"], box["opacity"], box["edge"], box["across"]) == ("#ff0000", 1, None, None)
    assert (band["across"], band["corners"][1::2], band["label"]) == ("x", [2, 3], "band")
    assert band["opacity"] == 0.4
    assert panel["texts"] == [{"x": 7, "y": 8, "text": "here"}]
    assert panel["x"]["log"]
    assert panel["y"]["ticks"] == {"at": [0, 1], "texts": ["low", "high"]}


def test_a_colour_bar_is_no_panel_of_its_own():
    figure = Figure()
    axes = figure.subplots()
    figure.colorbar(axes.pcolormesh([[1.0, 2.0], [3.0, 4.0]]), ax=axes)
    assert len(chart(figure)["panels"]) == 1


def test_numbers_are_cut_to_what_a_screen_shows_and_gaps_stay_gaps():
    assert rounded([1.23456, 1e-9, np.nan, np.inf]) == [1.235, 1e-9, None, None]
    figure = Figure()
    figure.subplots().set_title("a $name$", parse_math=False)
    assert chart(figure)["panels"][0]["title"] == "a $name$"
    assert plain(r"$p_b$ = 60%, $\mathrm{x}$") == "p_b = 60%, x"


def test_marks_of_a_series_are_known_by_it_and_empty_lines_are_left_out():
    def draw(axes):
        axes.plot([1], [2], "o", label=PART_OF + "A")
        axes.plot([], [], label="for the legend")

    (mark,) = panel_of(draw)["marks"]
    assert mark["label"] == "A"
