"""Charts as the JSON that the page draws."""

import json

import numpy as np

from freqdyna.report.charts import as_json, rounded
from freqdyna.results.chart import Area, Axis, Chart, Line, LineStyle, Panel, SeedCurve

SOME = np.array([1.0, 10.0])
RED = LineStyle("red")


def panel_of(*marks, **more):
    """A chart's only panel, after a round trip through JSON."""
    return json.loads(json.dumps(as_json(Chart([Panel(marks=marks, **more)]))))["panels"][0]


def test_curves_keep_every_seed_and_leave_the_interval_to_the_page():
    values = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 7.0]])
    interval = values[0], values[1]
    curve = SeedCurve(np.arange(3), values, RED, interval, np.array([5, 8]), label="A")
    (mark,) = panel_of(curve)["marks"]
    assert (mark["kind"], mark["label"], mark["color"]) == ("seeds", "A", "#ff0000")
    assert (mark["seeds"], mark["numbers"]) == (values.tolist(), [5, 8])
    assert (mark["every"], mark["x"]) == (1, [0, 1, 2])


def test_of_long_curves_every_nth_evaluation_is_kept_with_the_last():
    (mark,) = panel_of(SeedCurve(np.arange(1, 401), np.arange(400.0)[None], RED))["marks"]
    assert mark["every"] == 2
    assert (mark["x"][0], mark["x"][-1]) == (2, 400)


def test_lines_areas_and_axes_keep_their_numbers():
    panel = panel_of(
        Line(SOME, 2 * SOME, LineStyle("black", "dashed"), marker="square", label="line"),
        Area(SOME, np.zeros(2), np.ones(2), "green"),
        Line(np.empty(0), np.empty(0), RED, label="only for the legend of static figures"),
        x=Axis("x", log=True),
        y=Axis("y", low=2, high=-1, ticks=[(0, "low"), (1, "high")]),
    )
    line, area = panel["marks"]
    assert (line["kind"], line["x"], line["y"]) == ("line", [1, 10], [2, 20])
    assert (line["dash"], line["mode"], line["symbol"]) == ("dash", "lines+markers", "square")
    assert (area["kind"], area["x"], area["y"]) == ("area", [1, 10, 10, 1], [1, 1, 0, 0])
    assert panel["x"] == {"label": "x", "log": True}  # Plotly chooses the rest
    assert panel["y"]["ticks"] == {"at": [0, 1], "texts": ["low", "high"]}
    assert panel["y"]["range"] == [2, -1]
    assert rounded([1.23456, 1e-9, np.nan, np.inf]) == [1.235, 1e-9, None, None]
