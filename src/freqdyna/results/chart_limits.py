"""The limits of the axes of a chart, which are the same for every renderer."""

from collections.abc import Iterator

import numpy as np

from freqdyna.results.chart import Area, Axis, Chart, Mark, Mesh, Panel, SeedCurve

MARGIN = 0.05
"""How far an axis extends beyond its content, as a fraction of the size of the content."""
Limits = tuple[float, float]


def limits(chart: Chart) -> list[tuple[Limits, Limits]]:
    """The limits of the x and the y axis of each panel.

    Limits that an `Axis` does not set are slightly outside everything that is drawn: marks with
    their intervals, rules and boxes, but not texts. Shared axes include the content of all panels.
    """
    drawn = [_drawn(panel) for panel in chart.panels]
    xs = _shared([x for x, _ in drawn], chart.share_x)
    ys = _shared([y for _, y in drawn], chart.share_y)
    return [
        (_limits(panel.x, x), _limits(panel.y, y))
        for panel, x, y in zip(chart.panels, xs, ys, strict=True)
    ]


def _shared(values: list[np.ndarray], share: bool) -> list[np.ndarray]:
    return [np.concatenate(values)] * len(values) if share else values


def _limits(axis: Axis, values: np.ndarray) -> Limits:
    low, high = _around(values[values > 0] if axis.log else values, axis.log)
    if axis.is_reversed:
        low, high = high, low
    return (low if axis.low is None else axis.low, high if axis.high is None else axis.high)


def _around(values: np.ndarray, log: bool) -> Limits:
    """Slightly less than the minimum and slightly more than the maximum."""
    if not len(values):
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - MARGIN * (abs(low) or 1), high + MARGIN * (abs(high) or 1)
    if log:
        low, high = np.log10(low), np.log10(high)
    margin = MARGIN * (high - low)
    low, high = low - margin, high + margin
    return (float(10**low), float(10**high)) if log else (low, high)


def _drawn(panel: Panel) -> tuple[np.ndarray, np.ndarray]:
    """All x and all y coordinates in a panel."""
    xs, ys = [np.empty(0)], [np.empty(0)]
    for x, y in (pair for mark in panel.marks for pair in _points(mark)):
        shown = np.isfinite(x) & np.isfinite(y)
        xs.append(x[shown])
        ys.append(y[shown])
    for rule in panel.rules:
        (xs if rule.upright else ys).append(np.array([rule.at]))
    for box in panel.boxes:
        xs.append(np.array(box.x or (), np.float64))
        ys.append(np.array(box.y or (), np.float64))
    return np.concatenate(xs), np.concatenate(ys)


def _points(mark: Mark) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Coordinates that enclose a mark."""
    x = np.asarray(mark.x, np.float64)
    match mark:
        case SeedCurve():
            yield x, mark.mean
            for end in mark.interval or ():
                yield x, end
        case Area():
            yield x, mark.low
            yield x, mark.high
        case Mesh():
            for row in (mark.y[0], mark.y[-1]):
                yield x, np.full(x.shape, row)
        case _:
            yield x, np.asarray(mark.y, np.float64)
