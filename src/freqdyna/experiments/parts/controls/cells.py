"""The stored trainings of the study by cell and search-control."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from freqdyna.experiments.base import Stored
from freqdyna.experiments.parts.controls import defaults, step_times, tuning
from freqdyna.experiments.parts.controls.design import (
    CONTROLS,
    DIMENSIONS,
    ENSEMBLE,
    ER,
    FIRST_STAGE,
    IN_TUBES,
    NOISY,
    PENDULUMS,
    TUBES,
    VARIED,
    VARIED_IN,
    VARIED_WITH,
    WITH_NAF,
    Cell,
)
from freqdyna.experiments.parts.controls.recommendation import CellAreas, decidedly_worse
from freqdyna.experiments.parts.controls.units import tuned_settings
from freqdyna.experiments.stored_trainings import area, curves, pick, training_of

Trainings = Mapping[str, Stored]
"""The trainings of a cell by search-control."""


@dataclass(frozen=True)
class Study:
    """What is stored; every part may be incomplete."""

    cells: Mapping[Cell, Trainings]
    """All cells of stages 1 to 3 with at least one training, including ER."""
    tuned: Mapping[str, Mapping[tuple[Cell, int], Stored]]
    """By search-control: the trainings for tuning by cell and variant."""
    varied: Mapping[tuple[str, str, str, int], Stored]
    """Stage 4, by domain, search-control, setting and value."""
    times: Mapping[str, step_times.Times]
    """Measured microseconds per step by device."""
    candidates: Mapping[str, Mapping[defaults.Place, Stored]]
    """By candidate for the library's defaults: its trainings in stage 5, and those of stage 1 in
    the cells in which it changes nothing."""
    confirming: Mapping[Cell, Stored]
    """Stage 6: the recommended search-control with the chosen defaults, by cell of stage 1."""
    continuous: Mapping[Cell, Trainings]
    """Stage 7, with continuous actions."""

    @cached_property
    def worse(self) -> dict[Cell, set[str]]:
        """The search-controls that are decidedly worse than the best, in each cell with several."""
        areas = {cell: self.areas(cell) for cell in self.cells}
        return {cell: decidedly_worse(of) for cell, of in areas.items() if len(of) > 1}

    @cached_property
    def default_effects(self) -> dict[str, defaults.Effect]:
        """What each candidate changes of which all trainings are stored."""
        return {
            name: _default_effect(self, name)
            for name in defaults.CANDIDATES
            if name != defaults.PRESENT and self._has_defaults(name)
        }

    @property
    def chosen_defaults(self) -> str | None:
        """The candidate that is chosen; None unless all trainings of all of them are stored."""
        complete = all(self._has_defaults(name) for name in defaults.CANDIDATES)
        return defaults.chosen(self.default_effects) if complete else None

    def _has_defaults(self, candidate: str) -> bool:
        both = (candidate, defaults.PRESENT)
        return all(len(self.candidates[name]) == len(defaults.PLACES) for name in both)

    def areas(self, cell: Cell, controls: Iterable[str] = CONTROLS) -> CellAreas:
        """The areas of those of the search-controls that are stored in a cell."""
        trainings = self.cells.get(cell, {})
        return {control: area(trainings[control]) for control in controls if control in trainings}

    def complete(self, cells: Iterable[Cell] = FIRST_STAGE) -> dict[Cell, CellAreas]:
        """The areas of the cells in which all search-controls are stored."""
        found = {cell: self.areas(cell) for cell in cells}
        return {cell: areas for cell, areas in found.items() if len(areas) == len(CONTROLS)}


def study(units: dict[str, Stored]) -> Study:
    """Find the trainings of the study among stored units."""
    with_er = (*CONTROLS, ER)
    cells = {cell: _cell(units, cell, with_er) for cell in (*FIRST_STAGE, *NOISY, *ENSEMBLE)}
    cells |= {TUBES[n]: _cell(units, TUBES[n], IN_TUBES) for n in DIMENSIONS}
    keys = [
        (domain, control, name, value)
        for domain in VARIED_IN
        for control in VARIED_WITH
        for name, values in VARIED.items()
        for value in values
    ]
    varied = {
        key: stored
        for key in keys
        if (stored := _pick(units, key[1], Cell(key[0]), **{key[2]: key[3]})) is not None
    }
    return Study(
        {cell: found for cell, found in cells.items() if found},
        {control: _variants(units, control) for control in tuning.TUNED},
        varied,
        step_times.stored_times(units),
        {candidate: _candidate(units, candidate) for candidate in defaults.CANDIDATES},
        _confirming(units),
        {cell: _cell(units, cell, WITH_NAF) for cell in PENDULUMS},
    )


def _cell(units: dict[str, Stored], cell: Cell, controls: Iterable[str]) -> dict[str, Stored]:
    found = {control: _pick(units, control, cell) for control in controls}
    return {control: stored for control, stored in found.items() if stored is not None}


def _pick(units: dict[str, Stored], control: str, cell: Cell, **varied: Any) -> Stored | None:
    return pick(units, **tuned_settings(control, cell, **varied))


def _variants(units: dict[str, Stored], control: str) -> dict[tuple[Cell, int], Stored]:
    variants = range(len(tuning.TUNED[control].variants))
    return {
        (cell, variant): stored
        for cell in tuning.CELLS
        for variant in variants
        if (stored := pick(units, **tuning.variant_settings(control, cell, variant))) is not None
    }


def _candidate(units: dict[str, Stored], candidate: str) -> dict[defaults.Place, Stored]:
    found = {
        place: _pick(units, *place, **defaults.changes(candidate, place))
        for place in defaults.PLACES
    }
    return {place: stored for place, stored in found.items() if stored is not None}


def _confirming(units: dict[str, Stored]) -> dict[Cell, Stored]:
    if defaults.CHOSEN is None:
        return {}
    control, candidate = defaults.CHOSEN
    places = [defaults.Place(control, cell) for cell in FIRST_STAGE]
    found = {p.cell: _pick(units, *p, **defaults.changes(candidate, p)) for p in places}
    return {cell: stored for cell, stored in found.items() if stored is not None}


def _default_effect(found: Study, candidate: str) -> defaults.Effect:
    own, present = found.candidates[candidate], found.candidates[defaults.PRESENT]
    changed = [place for place in defaults.PLACES if defaults.changes(candidate, place)]
    return defaults.effect(
        {place: (area(own[place]), area(present[place])) for place in changed},
        is_stable=not any(training_of(own[place]).complete_seeds.left_out for place in changed),
    )


def tuning_effects(trainings: Mapping[tuple[Cell, int], Stored], control: str) -> list[float]:
    """The effect sizes of a search-control's variants; empty unless all of them are stored.

    Args:
        trainings: Its trainings for tuning.
        control: Its name.

    """
    variants = len(tuning.TUNED[control].variants)
    if len(trainings) < variants * len(tuning.CELLS):
        return []
    areas = {key: area(stored) for key, stored in trainings.items()}
    seeds = max(stored.settings["seeds"] for stored in trainings.values())
    return tuning.effects(areas, variants, seeds)


def chosen_settings(found: Study) -> dict[str, tuning.Own]:
    """What tuning chooses, by search-control, where it is not the defaults."""
    chosen = {}
    for control, trainings in found.tuned.items():
        effects = tuning_effects(trainings, control)
        own = tuning.TUNED[control].variants[tuning.chosen(effects)] if effects else {}
        if own:
            chosen[control] = own
    return chosen


def queue_error(stored: Stored) -> np.ndarray:
    """The model's mean error at the queue's states after the warm-up, for each seed; see H3."""
    _, errors = curves(stored, "model_error_queue")
    return np.asarray(np.nanmean(errors[:, training_of(stored).after_warmup], axis=1))
