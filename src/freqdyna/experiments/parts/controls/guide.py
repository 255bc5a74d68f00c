"""`freqdyna reproduce guide`: tables that help to choose a search-control, from what is stored."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from freqdyna.experiments import reproduce
from freqdyna.experiments.base import Experiment
from freqdyna.experiments.parts.controls.cells import Study, study
from freqdyna.experiments.parts.controls.design import CONTROLS, DOMAINS, ER, MODELS, Cell
from freqdyna.experiments.parts.controls.recommendation import mean_ranks
from freqdyna.experiments.parts.controls.step_times import Times

HEADER = "planning from"
STATES = {
    "replay": "visited states",
    "value": "a climb of V",
    "frequency": "a climb of g (the paper)",
    "uniform": "states drawn uniformly",
    "td-error": "uniform states, the more often the larger their TD error",
    "td-climb": "a climb of the TD error",
    "prioritized-sweeping": "predecessors of states with a large TD error",
    "parallel-frequency": "many short climbs of g",
    ER: "nothing: experience replay",
}
"""The states that each search-control plans from, in a few words."""


def tables(experiment: Experiment, out: Path) -> dict[str, str]:
    """Tables in Markdown: "guide, true model" and "guide, learned model".

    Args:
        experiment: The study.
        out: The folder with the stored results.

    """
    found = study(reproduce.stored(experiment, out))
    return {f"guide, {model} model": table(found, model) for model in MODELS}


def table(found: Study, model: str) -> str:
    """Mean areas by search-control and domain, and the time of a step; the best first."""
    cells = {domain: Cell(domain, model) for domain in DOMAINS}
    ranks = mean_ranks(found.complete(cells.values()))
    order = sorted(CONTROLS, key=lambda control: ranks.get(control, np.inf))
    times = found.times if model == MODELS[0] else {}  # measured with the true model
    costs = {device: costs_of(of) for device, of in times.items()}
    header = [HEADER, "`--algorithm`", *cells]
    header += [f"time of a step, {device.upper()} (ER: 1)" for device in costs]
    lines = [header, ["---"] * len(header)]
    for control in (*order, ER):
        algorithm = "er" if control == ER else f"dyna-{control}"
        row = [STATES[control], f"`{algorithm}`"]
        row += [_area(found, cell, control) for cell in cells.values()]
        row += [f"{of[control]:.1f}" if control in of else "" for of in costs.values()]
        lines.append(row)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _area(found: Study, cell: Cell, control: str) -> str:
    """A mean area, bold unless it is decidedly worse than the best of the search-controls."""
    areas = found.areas(cell, (control,))
    if not areas:
        return "not stored"
    mean = f"{areas[control].mean():.0f}".replace("-", "−")
    is_good = control != ER and control not in found.worse.get(cell, ())
    return f"**{mean}**" if is_good else mean


def costs_of(times: Times) -> Mapping[str, float]:
    """The time of a step relative to ER's: the geometric mean over the measured domains.

    Args:
        times: Microseconds by domain and search-control.

    """
    ratios: dict[str, list[float]] = {}
    for (domain, control), own in times.items():
        if (domain, ER) in times:
            ratios.setdefault(control, []).append(own / times[domain, ER])
    return {control: float(np.exp(np.mean(np.log(of)))) for control, of in ratios.items()}
