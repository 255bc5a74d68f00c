"""The figure of the study; it has no learning curves, so that the report's page stays small."""

from collections.abc import Sequence

import numpy as np

from freqdyna.core.errors import counted
from freqdyna.experiments.parts.controls.cells import Study
from freqdyna.experiments.parts.controls.design import (
    CONTROLS,
    DIMENSIONS,
    DOMAINS,
    ER,
    FIRST_STAGE,
    MODELS,
    TUBES,
    Cell,
)
from freqdyna.experiments.parts.controls.recommendation import (
    CellAreas,
    mean_ranks,
    rank_intervals,
)
from freqdyna.experiments.parts.controls.verdicts import errors_and_losses
from freqdyna.results.chart import (
    Area,
    Axis,
    Chart,
    Legend,
    Line,
    LineStyle,
    Mark,
    Marker,
    Panel,
    Rule,
)
from freqdyna.results.statistics import bootstrap_interval

COLORS = {
    "replay": "saddlebrown",
    "value": "red",
    "frequency": "black",
    "uniform": "dodgerblue",
    "td-error": "darkorange",
    "td-climb": "deeppink",
    "prioritized-sweeping": "purple",
    "parallel-frequency": "0.5",
    ER: "forestgreen",
}
"""Of the search-controls; those of the paper's have its colours."""
OF_MODELS = {"true": "black", "learned": "darkorange"}
MARKERS: dict[str, Marker] = dict(
    zip(
        DOMAINS,
        ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross"),
        strict=True,
    )
)
SMALL = 7.0
"""Size of the text of legends."""
POINTS = 101
"""Points of a performance profile."""
IN_A_ROW = 3
"""More panels than this are drawn in two columns."""


def chart(found: Study) -> Chart:
    """Ranks, performance profiles, areas by dimension, and the model's error beside its cost."""
    panels = [
        panel
        for panel in (_ranks(found), _profiles(found), _dimensions(found), _errors(found))
        if panel is not None
    ] or [Panel("nothing that can be compared is stored", is_blank=True)]
    title = "C: search-controls, with 95% intervals over seeds"
    return Chart(panels, title, columns=2 if len(panels) > IN_A_ROW else None)


def _ranks(found: Study) -> Panel | None:
    """The mean rank of each search-control over the domains, with either model."""
    groups = {model: found.complete(Cell(domain, model) for domain in DOMAINS) for model in MODELS}
    groups = {model: areas for model, areas in groups.items() if areas}
    if not groups:
        return None
    by_model = {model: mean_ranks(areas) for model, areas in groups.items()}
    order = sorted(CONTROLS, key=lambda c: sum(of[c] for of in by_model.values()), reverse=True)
    marks: list[Mark] = []
    for i, (model, areas) in enumerate(groups.items()):
        ranges = rank_intervals(list(areas.values()))
        heights = np.arange(len(order)) + 0.15 * (1 - 2 * i)
        style = LineStyle(OF_MODELS[model], "none")
        label = f"{model} model, {counted(len(areas), 'domain')}"
        means = np.array([by_model[model][control] for control in order])
        marks.append(Line(means, heights, style, marker="circle", label=label))
        for control, height in zip(order, heights, strict=True):
            ends, line = np.array(ranges[control]), LineStyle(OF_MODELS[model])
            marks.append(Line(ends, np.full(2, height), line, series=label))
    return Panel(
        "mean rank by area",
        Axis("mean rank over domains (1 is the best)"),
        Axis(ticks=[(float(i), control) for i, control in enumerate(order)]),
        marks,
        legend=Legend("best", SMALL),
    )


def _profiles(found: Study) -> Panel | None:
    """The share of runs above each score, over the cells of stage 1."""
    cells = [areas for cell in FIRST_STAGE if (areas := found.areas(cell, (*CONTROLS, ER)))]
    common = [c for c in (*CONTROLS, ER) if cells and all(c in areas for areas in cells)]
    if len(common) <= 1:
        return None
    at = np.linspace(0, 1, POINTS)
    shares = profiles([{control: areas[control] for control in common} for areas in cells], at)
    marks = [
        Line(at, share, LineStyle(COLORS[control]), label=control)
        for control, share in shares.items()
    ]
    return Panel(
        f"performance profiles over {len(cells)} cells",
        Axis("score τ: area, scaled to [0, 1] in each cell"),
        Axis("share of runs with a score above τ", low=0.0, high=1.0),
        marks,
        legend=Legend("best", SMALL),
    )


def profiles(cells: Sequence[CellAreas], at: np.ndarray) -> dict[str, np.ndarray]:
    """The performance profile of each search-control: the share of runs above each score.

    Args:
        cells: The areas in each cell, all of them with the same search-controls. A score is an area
            scaled to [0, 1] between the lowest and the highest of all runs of its cell.
        at: The scores, shape (points,).

    Returns:
        Shape (points,) by search-control: the mean over cells.

    """
    total = {control: np.zeros(len(at)) for control in cells[0]}
    for areas in cells:
        every = np.concatenate(list(areas.values()))
        low, width = every.min(), max(float(np.ptp(every)), 1e-12)
        for control, values in areas.items():
            scores = (values - low) / width
            total[control] += (scores[:, None] > at).mean(axis=0) / len(cells)
    return total


def _dimensions(found: Study) -> Panel | None:
    """Areas on TubeGridWorld-n by n."""
    areas = {n: found.areas(TUBES[n], (*CONTROLS, ER)) for n in DIMENSIONS}
    marks: list[Mark] = []
    for control in (*CONTROLS, ER):
        values = {n: of[control] for n, of in areas.items() if control in of}
        if values:
            x, color = np.array(list(values), float), COLORS[control]
            low, high = np.array([bootstrap_interval(one) for one in values.values()]).T
            means = np.array([one.mean() for one in values.values()])
            marks.append(Area(x, low, high, color, 0.15, series=control))
            marks.append(Line(x, means, LineStyle(color), marker="circle", label=control))
    if not marks:
        return None
    return Panel(
        "TubeGridWorld-n, true model",
        Axis("n, the number of coordinates", ticks=[(float(n), str(n)) for n in DIMENSIONS]),
        Axis("area"),
        marks,
        legend=Legend("best", SMALL),
    )


def _errors(found: Study) -> Panel | None:
    """The learned model's error at the queue's states, and the share of area that it costs."""
    marks: list[Mark] = []
    for domain in DOMAINS:
        true = found.cells.get(Cell(domain), {})
        learned = found.cells.get(Cell(domain, "learned"), {})
        both = [control for control in CONTROLS if control in true and control in learned]
        areas = found.areas(Cell(domain), both)
        for control, error, loss in zip(both, *errors_and_losses(found, domain), strict=True):
            cost = loss / abs(float(areas[control].mean()))
            style = LineStyle(COLORS[control], "none")
            marks.append(
                Line(
                    np.array([error]),
                    np.array([cost]),
                    style,
                    marker=MARKERS[domain],
                    series=control,
                )
            )
        if both:
            none, grey = np.array([]), LineStyle("0.3", "none")
            marks.append(Line(none, none, grey, marker=MARKERS[domain], label=domain))
    if not marks:
        return None
    return Panel(
        "what the learned model costs",
        Axis("error at the queue's states, relative to the ranges", log=True),
        Axis("area lost, relative to the true model's"),
        marks,
        [Rule(0.0, style=LineStyle("0.5"), width=0.8)],
        legend=Legend("best", SMALL),
    )
