import numpy as np
import pytest

from freqdyna.results.chart import (
    Area,
    Axis,
    Box,
    Chart,
    Line,
    LineStyle,
    Mesh,
    Panel,
    Points,
    Rule,
    SeedCurve,
)
from freqdyna.results.chart_limits import limits

RED = LineStyle("red")
X = np.array([0.0, 10.0])
VALUES = np.array([[0.0, 1.0], [2.0, 3.0]])


def limits_of(*marks, **more):
    return limits(Chart([Panel(marks=marks, **more)]))[0]


@pytest.mark.parametrize(
    ("mark", "y"),
    [
        (Line(X, np.array([0.0, 20.0]), RED), (0, 20)),
        (Points(X, np.array([5.0, -5.0]), "red"), (-5, 5)),
        (SeedCurve(X, VALUES, RED), (1, 2)),
        (SeedCurve(X, VALUES, RED, (np.array([0.5, 1.5]), np.array([1.5, 4.5]))), (0.5, 4.5)),
        (Area(X, np.array([-1.0, 0.0]), np.array([0.0, 3.0]), "red"), (-1, 3)),
        (Mesh(X, np.array([1.0, 2.0, 4.0]), np.zeros((3, 2)), (0, 1)), (1, 4)),
    ],
)
def test_axes_extend_a_twentieth_beyond_what_is_drawn(mark, y):
    found_x, found_y = limits_of(mark)
    assert found_x == pytest.approx((-0.5, 10.5))
    margin = (y[1] - y[0]) / 20
    assert found_y == pytest.approx((y[0] - margin, y[1] + margin))


def test_rules_and_boxes_are_inside():
    x, y = limits_of(
        rules=[Rule(-10, upright=True), Rule(5)],
        boxes=[Box((0, 10), None, "red"), Box(None, (0, 10), "red")],
    )
    assert x == pytest.approx((-11, 11))
    assert y == pytest.approx((-0.5, 10.5))


def test_given_ends_stay_and_an_axis_may_run_backwards():
    line = Line(X, np.array([0.0, 20.0]), RED)
    x, y = limits_of(line, x=Axis(low=-3), y=Axis(is_reversed=True))
    assert x == pytest.approx((-3, 10.5))
    assert y == pytest.approx((21, -1))
    assert limits_of(line, y=Axis(low=5.5, high=-0.5))[1] == (5.5, -0.5)


def test_logarithmic_axes_have_margins_of_orders_of_magnitude():
    line = Line(np.array([0.0, 1.0, 100.0]), np.zeros(3), RED)
    assert limits_of(line, x=Axis(log=True))[0] == pytest.approx((10**-0.1, 10**2.1))


def test_gaps_are_ignored_and_a_single_value_has_room():
    gap = Line(np.array([0.0, 1.0, 99.0]), np.array([4.0, 4.0, np.nan]), RED)
    x, y = limits_of(gap)
    assert x == pytest.approx((-0.05, 1.05))
    assert y[0] < 4 < y[1]
    zero = limits_of(Points(np.zeros(1), np.zeros(1), "red"))[0]
    assert zero[0] < 0 < zero[1]


@pytest.mark.parametrize("log", [True, False])
def test_an_empty_panel_has_limits_too(log):
    low, high = limits_of(x=Axis(log=log))[0]
    assert 0 <= low < high


def test_shared_axes_include_all_panels():
    panels = [Panel(marks=[Line(X, np.array([0.0, top]), RED)]) for top in (1.0, 20.0)]
    apart = limits(Chart(panels))
    assert [y for _, y in apart] == [pytest.approx((-0.05, 1.05)), pytest.approx((-1, 21))]
    together = limits(Chart(panels, share_y=True))
    assert [y for _, y in together] == [pytest.approx((-1, 21))] * 2
