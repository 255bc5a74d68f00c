"""The tables of the study."""

from collections.abc import Sequence
from itertools import product

from freqdyna.experiments.comparisons import mean_with_interval
from freqdyna.experiments.parts.controls import defaults, tuning
from freqdyna.experiments.parts.controls.cells import Study, tuning_effects
from freqdyna.experiments.parts.controls.design import (
    CONTROLS,
    DIMENSIONS,
    DOMAINS,
    ER,
    FIRST_STAGE,
    MODELS,
    TUBES,
    VARIED_IN,
    VARIED_WITH,
    WITH_NAF,
    Cell,
)
from freqdyna.experiments.parts.controls.recommendation import (
    CellAreas,
    Standing,
    rank_intervals,
    standings,
)
from freqdyna.experiments.parts.controls.step_times import Times, over_equal_time
from freqdyna.experiments.parts.controls.verdicts import errors_and_losses
from freqdyna.experiments.stored_trainings import area

Table = list[list[str]]


def tables(found: Study) -> list[Table]:
    """All tables for which something is stored, each with its header first."""
    every = [
        *(_areas(found, model, 0.0) for model in MODELS),
        _ranks(found),
        _by_dimension(found),
        _model_errors(found),
        *(_areas(found, *at) for at in dict.fromkeys((c.model, c.noise) for c in _later(found))),
        _varied(found),
        _continuous(found),
        _times(found),
        _tuning(found),
        _defaults(found),
    ]
    return [table for table in every if len(table) > 1]


def _later(found: Study) -> list[Cell]:
    """The stored cells of stage 3."""
    known = (*FIRST_STAGE, *TUBES.values())
    return [cell for cell in found.cells if cell not in known]


def _areas(found: Study, model: str, noise: float) -> Table:
    """Mean areas with intervals, by search-control and domain."""
    cells = {domain: Cell(domain, model, noise) for domain in DOMAINS}
    areas = {domain: found.areas(cell, (*CONTROLS, ER)) for domain, cell in cells.items()}
    with_noise = f", σ = {noise:g}" if noise else ""
    rows = [[f"area, {model} model{with_noise}", *cells]]
    for control in (*CONTROLS, ER):
        if any(control in of for of in areas.values()):
            rows.append([control, *(_cell(of, control) for of in areas.values())])
    return rows if any(of.keys() - {ER} for of in areas.values()) else []


def _cell(areas: CellAreas, control: str) -> str:
    return mean_with_interval(areas[control]) if control in areas else "not stored"


def _ranks(found: Study) -> Table:
    """Mean ranks and shares over the complete cells of stage 1, the best first."""
    groups = {"both": found.complete()}
    groups |= {m: found.complete(c for c in FIRST_STAGE if c.model == m) for m in MODELS}
    if not groups["both"]:
        return []
    kept = {name: areas for name, areas in groups.items() if areas}
    stood = {name: standings(areas, found.worse) for name, areas in kept.items()}
    ranges = {name: rank_intervals(list(areas.values())) for name, areas in kept.items()}
    names = {"both": "all", **{model: f"{model} model" for model in MODELS}}
    header = ["search-control"]
    for name, areas in kept.items():
        header += [
            f"mean rank, {names[name]} ({len(areas)} cells)",
            f"best or not decidedly worse, {names[name]}",
        ]
    rows = [header]
    for control in sorted(CONTROLS, key=lambda c: stood["both"][c].mean_rank):
        row = [control]
        for name in kept:
            row += _standing(stood[name][control], ranges[name][control])
        rows.append(row)
    return rows


def _standing(standing: Standing, within: tuple[float, float]) -> list[str]:
    low, high = within
    return [
        f"{standing.mean_rank:.1f} [{low:.1f}, {high:.1f}]",
        f"{standing.good} of {standing.cells}",
    ]


def _by_dimension(found: Study) -> Table:
    """Areas on TubeGridWorld-n."""
    areas = {n: found.areas(TUBES[n], (*CONTROLS, ER)) for n in DIMENSIONS}
    rows = [["area, TubeGridWorld-n, true model", *(f"n = {n}" for n in DIMENSIONS)]]
    for control in (*CONTROLS, ER):
        if any(control in of for of in areas.values()):
            rows.append([control, *(_cell(of, control) for of in areas.values())])
    return rows


def _model_errors(found: Study) -> Table:
    """The learned model's error at the queue's states, and the area that it costs."""
    rows = [["model error at the queue's states; area lost by the learned model", *DOMAINS]]
    columns = []
    for domain in DOMAINS:
        true, learned = (found.cells.get(Cell(domain, model), {}) for model in MODELS)
        both = [control for control in CONTROLS if control in true and control in learned]
        pairs = zip(*errors_and_losses(found, domain), strict=True)
        columns.append(dict(zip(both, pairs, strict=True)))
    for control in CONTROLS:
        if any(control in column for column in columns):
            cells = [
                f"{column[control][0]:.2g}; {column[control][1]:+.0f}"
                if control in column
                else "not stored"
                for column in columns
            ]
            rows.append([control, *cells])
    return rows


def _varied(found: Study) -> Table:
    """Stage 4: other numbers of updates and of queue states per step."""
    names = {"planning_steps": "d", "search_states": "m"}
    keys = dict.fromkeys((domain, name, value) for domain, _, name, value in found.varied)
    rows = [["area, true model", *VARIED_WITH]]
    if not keys:
        return rows
    for domain in VARIED_IN:
        usual = found.areas(Cell(domain), VARIED_WITH)
        rows.append([f"{domain}, defaults", *(_cell(usual, control) for control in VARIED_WITH)])
        for _, name, value in (key for key in keys if key[0] == domain):
            at = {c: found.varied.get((domain, c, name, value)) for c in VARIED_WITH}
            areas = {control: area(one) for control, one in at.items() if one is not None}
            label = f"{domain}, {names[name]} = {value}"
            rows.append([label, *(_cell(areas, control) for control in VARIED_WITH)])
    return rows


def _continuous(found: Study) -> Table:
    """Stage 7: areas with continuous actions."""
    areas = {
        cell: {control: area(stored) for control, stored in of.items()}
        for cell, of in found.continuous.items()
    }
    rows = [["area, continuous actions (NAF)", *map(str, areas)]]
    for control in WITH_NAF:
        if any(control in of for of in areas.values()):
            label = "no search-control" if control == ER else control
            rows.append([label, *(_cell(of, control) for of in areas.values())])
    return rows


def _times(found: Study) -> Table:
    """Microseconds per step, and the mean return over equal time, on each device."""
    rows: Table = []
    for device, times in found.times.items():
        domains = [domain for domain in DOMAINS if any(of == domain for of, _ in times)]
        rows = rows or [["µs per step of one seed; mean return over equal time", *DOMAINS]]
        returns = {domain: _equal_time(found, domain, times) for domain in domains}
        for control in (*CONTROLS, ER):
            cells = []
            for domain in DOMAINS:
                own = times.get((domain, control))
                over = returns.get(domain, {})
                text = "not measured" if own is None else f"{own:.1f}"
                cells.append(f"{text}; {over[control].mean():.0f}" if control in over else text)
            rows.append([f"{control}, {device}", *cells])
    return rows


def _equal_time(found: Study, domain: str, times: Times) -> CellAreas:
    """The mean returns of each search-control over the time that the fastest needs; without ER."""
    of = found.cells.get(Cell(domain), {})
    own = {c: times[domain, c] for c in CONTROLS if (domain, c) in times and c in of}
    return over_equal_time({control: of[control] for control in own}, own) if own else {}


def _tuning(found: Study) -> Table:
    """The mean areas and the effect size of every variant."""
    rows = [["tuning", "variant", *(cell.domain for cell in tuning.CELLS), "mean effect size"]]
    for control, trainings in found.tuned.items():
        effects: Sequence[float] = tuning_effects(trainings, control)
        for i, own in enumerate(tuning.TUNED[control].variants if trainings else ()):
            text = ", ".join(f"{name} = {value}" for name, value in own.items()) or "defaults"
            cells = [
                mean_with_interval(area(trainings[cell, i]))
                if (cell, i) in trainings
                else "not stored"
                for cell in tuning.CELLS
            ]
            size = f"{effects[i]:+.2f}" if effects else "unknown"
            rows.append([control, text, *cells, size])
    return rows


def _defaults(found: Study) -> Table:
    """Stage 5: areas, effect sizes and standing of the candidates for the library's defaults."""
    rows = [["area; effect size of other defaults", *defaults.CANDIDATES]]
    if not any(_is_trained(found, *at) for at in product(defaults.CANDIDATES, defaults.PLACES)):
        return rows
    for place in defaults.PLACES:
        cells = (_of_candidate(found, name, place) for name in defaults.CANDIDATES)
        rows.append([str(place), *cells])
    effects = {name: found.default_effects.get(name) for name in defaults.CANDIDATES}
    del effects[defaults.PRESENT]
    sizes = (f"{one.mean_size:+.2f}" if one else "unknown" for one in effects.values())
    decided = (
        f"{len(one.better)}; {len(one.worse)}" + ("" if one.is_stable else "; seeds diverged")
        if one
        else "unknown"
        for one in effects.values()
    )
    chosen = found.chosen_defaults
    words = ("yes" if name == chosen else "no" for name in defaults.CANDIDATES)
    return [
        *rows,
        ["mean effect size", "", *sizes],
        ["cells in which it is decidedly better; worse", "", *decided],
        ["chosen", *(words if chosen else ["unknown"] * len(defaults.CANDIDATES))],
    ]


def _is_trained(found: Study, candidate: str, place: defaults.Place) -> bool:
    """Whether a training of stage 5 is stored for the candidate and the cell."""
    return place in found.candidates[candidate] and bool(defaults.changes(candidate, place))


def _of_candidate(found: Study, candidate: str, place: defaults.Place) -> str:
    if candidate != defaults.PRESENT and not defaults.changes(candidate, place):
        return "the same"
    stored = found.candidates[candidate].get(place)
    if stored is None:
        return "not stored"
    text = mean_with_interval(area(stored))
    effect = found.default_effects.get(candidate)
    return f"{text}; {effect.sizes[place]:+.2f}" if effect else text
