"""`freqdyna reproduce guide`: tables that help to choose a search-control, from what is stored."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from freqdyna.experiments import reproduce
from freqdyna.experiments.base import Experiment, Stored
from freqdyna.experiments.parts.controls import defaults, tuning
from freqdyna.experiments.parts.controls.cells import Study, study
from freqdyna.experiments.parts.controls.design import CONTROLS, DOMAINS, ER, MODELS, Cell
from freqdyna.experiments.parts.controls.recommendation import mean_ranks
from freqdyna.experiments.parts.controls.step_times import Times
from freqdyna.experiments.stored_trainings import area

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


IN_SHORT = ("td-error", "uniform", "value", "frequency", ER)


def tables(experiment: Experiment, out: Path) -> dict[str, str]:
    """Tables in Markdown by name, such as "guide, in short".

    Args:
        experiment: The study.
        out: The folder with the stored results.

    """
    found = study(reproduce.stored(experiment, out))
    of_models = {f"guide, {model} model": table(found, model) for model in MODELS}
    return {"guide, in short": in_short(found), **of_models, "guide, defaults": of_defaults(found)}


def in_short(found: Study) -> str:
    """Mean areas with the true and with the learned model, for some of the search-controls."""
    lines = [[HEADER, "`--algorithm`", *DOMAINS], ["---"] * (2 + len(DOMAINS))]
    for control in IN_SHORT:
        row = _row_of(control)
        for domain in DOMAINS:
            both = [_area(found, Cell(domain, model), control) for model in MODELS]
            row.append(" / ".join(dict.fromkeys(both)))  # ER has no model
        lines.append(row)
    return _markdown(lines)


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
        row = _row_of(control)
        row += [_area(found, cell, control) for cell in cells.values()]
        row += [f"{of[control]:.1f}" if control in of else "" for of in costs.values()]
        lines.append(row)
    return _markdown(lines)


def of_defaults(found: Study) -> str:
    """Mean areas of the recommended search-control with the chosen defaults, and of ER."""
    lines = [["", *DOMAINS], ["---"] * (1 + len(DOMAINS))]
    if defaults.CHOSEN is not None:
        control, chosen = defaults.CHOSEN
        for model in MODELS:
            of = {d: found.confirming.get(Cell(d, model)) for d in DOMAINS}
            lines.append([f"{control}, {chosen}, {model} model", *map(_mean, of.values())])
        for name in (chosen, defaults.PRESENT):
            places = [defaults.Place(ER, Cell(domain)) for domain in DOMAINS]
            of_er = [found.candidates[name].get(place) for place in places]
            words = chosen if name == chosen else "observations as they are"
            lines.append([f"{ER}, {words}", *map(_mean, of_er)])
    return _markdown(lines)


def _mean(stored: Stored | None) -> str:
    return "not stored" if stored is None else _text(area(stored))


def _row_of(control: str) -> list[str]:
    """The first cells of a row."""
    algorithm = "er" if control == ER else f"dyna-{control}"
    own = tuning.CHOSEN.get(control, {}).items()
    options = "".join(f" --{name.replace('_', '-')} {value}" for name, value in own)
    return [STATES[control], f"`{algorithm}{options}`"]


def _markdown(lines: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _area(found: Study, cell: Cell, control: str) -> str:
    """A mean area, bold unless it is decidedly worse than the best of the search-controls."""
    areas = found.areas(cell, (control,))
    if not areas:
        return "not stored"
    mean = _text(areas[control])
    is_good = control != ER and control not in found.worse.get(cell, ())
    return f"**{mean}**" if is_good else mean


def _text(areas: np.ndarray) -> str:
    return f"{areas.mean():.0f}".replace("-", "−")


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
