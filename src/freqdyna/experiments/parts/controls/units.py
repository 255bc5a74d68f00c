"""What C trains, in the order of its stages; the analysis can do without any of them."""

from dataclasses import replace
from typing import Any

from freqdyna.experiments.base import Unit
from freqdyna.experiments.parts.controls import defaults, tuning
from freqdyna.experiments.parts.controls.design import (
    CONTROLS,
    DIMENSIONS,
    DOMAINS,
    ENSEMBLE,
    ER,
    FIRST_STAGE,
    IN_TUBES,
    NOISE,
    NOISY,
    PENDULUMS,
    SIZE,
    TUBES,
    VARIED,
    VARIED_IN,
    VARIED_WITH,
    WITH_NAF,
    Cell,
    settings,
)
from freqdyna.experiments.trainings import only_curves, training

FIVE_BEST = ("td-error", "uniform", "parallel-frequency", "frequency", "value")
"""The search-controls that stage 3 trains with the ensemble: the five with the best mean rank in
stage 1, by `recommendation.best_by_rank`. Empty until stage 1 is stored; a test compares it
with what is."""
QUICK = ("uniform", "frequency", "td-error")


def units(quick: bool) -> list[Unit]:
    """All trainings, stage by stage and the longest first; a quick run has three."""
    if quick:
        return [_unit(True, tuned_settings(control, FIRST_STAGE[0])) for control in QUICK]
    return [unit for stage in stages().values() for unit in stage]


def stages() -> dict[str, list[Unit]]:
    """All trainings by what they are for, in the order in which they are computed."""
    return {
        "tuning": _tuning(),
        "stage 1 (domains and models)": _first_stage(),
        "stage 2 (dimensions)": _second_stage(),
        "stage 5 (the library's defaults)": _fifth_stage(),
        "stage 3 (noise, and the ensemble with the five best of stage 1)": _third_stage(),
        "stage 4 (d and m)": _fourth_stage(),
        "stage 6 (the recommended search-control with the chosen defaults)": _sixth_stage(),
        "stage 7 (continuous actions)": _seventh_stage(),
    }


def tuned_settings(control: str, cell: Cell, **varied: Any) -> dict[str, Any]:
    """The settings of a training, without its size, with those that tuning has chosen."""
    return settings(control, cell, tuning.CHOSEN.get(control, {}), **varied)


def _unit(quick: bool, own: dict[str, Any]) -> Unit:
    return replace(only_curves(training(quick, **{**SIZE, **own})), optional=True)


def _tuning() -> list[Unit]:
    return [
        _unit(False, tuning.variant_settings(control, cell, variant) | tuning.SIZE)
        for control, tuned in tuning.TUNED.items()
        for cell in tuning.CELLS
        for variant in range(len(tuned.variants))
    ]


def _first_stage() -> list[Unit]:
    longest_first = sorted(FIRST_STAGE, key=lambda cell: cell.domain != "MazeGridWorld")
    cells = [(control, cell) for cell in longest_first for control in reversed(CONTROLS)]
    cells += [(ER, Cell(domain)) for domain in DOMAINS]
    return [_unit(False, tuned_settings(control, cell)) for control, cell in cells]


def _second_stage() -> list[Unit]:
    return [
        _unit(False, tuned_settings(control, TUBES[n]))
        for control in IN_TUBES
        for n in reversed(DIMENSIONS)
    ]


def _third_stage() -> list[Unit]:
    cells = [(control, cell) for cell in NOISY for control in CONTROLS]
    cells += [(ER, Cell(domain, noise=NOISE)) for domain in DOMAINS]
    cells += [(control, cell) for cell in ENSEMBLE for control in FIVE_BEST]
    return [_unit(False, tuned_settings(control, cell)) for control, cell in cells]


def _fourth_stage() -> list[Unit]:
    return [
        _unit(False, tuned_settings(control, Cell(domain), **{name: value}))
        for domain in VARIED_IN
        for control in VARIED_WITH
        for name, values in VARIED.items()
        for value in values
    ]


def _fifth_stage() -> list[Unit]:
    return [
        _unit(False, tuned_settings(place.control, place.cell, **own))
        for place, own in defaults.trainings()
    ]


def _sixth_stage() -> list[Unit]:
    return [
        _unit(False, tuned_settings(place.control, place.cell, **own))
        for place, own in defaults.confirming_trainings()
    ]


def _seventh_stage() -> list[Unit]:
    # NAF itself has no model, and is trained once.
    cells = [(control, cell) for cell in PENDULUMS for control in WITH_NAF if control != ER]
    cells.append((ER, PENDULUMS[0]))
    return [_unit(False, tuned_settings(control, cell)) for control, cell in cells]
