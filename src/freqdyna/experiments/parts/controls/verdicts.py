"""The claims of the study: the verdicts on H1 to H4, and on the goals of the recommendation."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from freqdyna.experiments.claims import Claim, Verdict
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.parts.controls import defaults
from freqdyna.experiments.parts.controls.cells import Study, queue_error
from freqdyna.experiments.parts.controls.design import (
    CONTROLS,
    DIMENSIONS,
    DOMAINS,
    ER,
    FIRST_FIVE,
    FIRST_STAGE,
    TUBES,
    Cell,
)
from freqdyna.experiments.parts.controls.hypotheses import (
    GOALS,
    HYPOTHESES,
    LEAST_DOMAINS,
    LEAST_GAIN,
    LEAST_SHARE,
)
from freqdyna.experiments.parts.controls.recommendation import (
    gain,
    recommended,
    standings,
)
from freqdyna.experiments.parts.controls.step_times import over_equal_time
from freqdyna.experiments.stored_trainings import area, left_out
from freqdyna.results.comparison.statistics import (
    LEVEL,
    RESAMPLES,
    holm,
    permutation_p,
    stratified_interval,
)

OURS = "own hypothesis"
GOAL = "own goal"
Pair = tuple[np.ndarray, np.ndarray]
"""The areas of two trainings, each of shape (seeds,)."""
UNIFORM, FREQUENCY, TD = "uniform", "frequency", "td-error"
_STATEMENTS = {one.name: f"{one.name}: {one.statement}" for one in HYPOTHESES}


def claims(found: Study) -> list[Claim]:
    """The hypotheses with the comparisons that decide them, and the goals."""
    hypotheses = [*_h1(found), *_h2(found), *_h3(found), *_h4(found)]
    return [*hypotheses, *_goals(found), _of_defaults(found), _of_both(found)]


def _h1(found: Study) -> list[Claim]:
    rows = _compared(found, [Cell(domain) for domain in DOMAINS], UNIFORM, FREQUENCY)
    return [_over_domains("H1", rows), *rows]


def _compared(found: Study, cells: Sequence[Cell], better: str, worse: str) -> list[Claim]:
    """The comparisons of two search-controls in those of the cells that have both."""
    pairs = {cell: found.cells.get(cell, {}) for cell in cells}
    return judge(
        [
            Comparison.of(f"{better} − {worse}, area, {cell}", OURS, area, of[better], of[worse])
            for cell, of in pairs.items()
            if better in of and worse in of
        ]
    )


def _over_domains(name: str, rows: Sequence[Claim]) -> Claim:
    """H1 or H4, given the verdicts in the domains that are stored."""
    better, worse = (sum(row.verdict == v for row in rows) for v in ("holds", "does not hold"))
    verdict: Verdict = "undecided"
    if len(rows) == len(DOMAINS):
        if worse:
            verdict = "does not hold"
        elif 2 * better >= len(DOMAINS):
            verdict = "holds"
    ours = f"decidedly better in {better}, decidedly worse in {worse} of {len(DOMAINS)} domains"
    return _hypothesis(name, ours, "", verdict, len(rows), len(DOMAINS))


def _hypothesis(
    name: str, ours: str, range_: str, verdict: Verdict, stored: int, wanted: int
) -> Claim:
    if stored < wanted:
        missing = wanted - stored
        ours += f"; {missing} of the {wanted} comparisons {'is' if missing == 1 else 'are'} missing"
    return Claim(_STATEMENTS[name], OURS, ours, range_, verdict, "study")


def _h2(found: Study) -> list[Claim]:
    rows = _compared(found, list(TUBES.values()), UNIFORM, FREQUENCY)
    verdict: Verdict = "undecided"
    if len(rows) == len(DIMENSIONS):
        verdict = turns([row.verdict for row in rows])
    pairs = zip(DIMENSIONS, rows, strict=False)
    by_n = ", ".join(f"{_word(row.verdict)} (n = {n})" for n, row in pairs)
    ours = f"uniform is {by_n}" if len(rows) == len(DIMENSIONS) else "none"
    return [_hypothesis("H2", ours, "", verdict, len(rows), len(DIMENSIONS)), *rows]


def turns(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on H2, given those on "uniform − frequency" by growing n."""
    worse = [i for i, one in enumerate(verdicts) if one == "does not hold"]
    if not worse:
        return "does not hold" if verdicts[-1] == "holds" else "undecided"
    if worse[0] == 0 or "holds" in verdicts[worse[0] :]:
        return "undecided"
    return "holds"


def _word(verdict: Verdict) -> str:
    return {"holds": "better", "does not hold": "worse"}.get(verdict, "undecided")


def _h3(found: Study) -> list[Claim]:
    pairs = {domain: errors_and_losses(found, domain) for domain in DOMAINS}
    whole = {domain: pair for domain, pair in pairs.items() if len(pair[0]) == len(CONTROLS)}
    if not whole:
        return [_hypothesis("H3", "none", "", "undecided", 0, len(DOMAINS))]
    mean, p = association(list(whole.values()))
    verdict: Verdict = "undecided"
    if len(whole) == len(DOMAINS):
        verdict = "holds" if p < LEVEL and mean > 0 else "does not hold" if mean <= 0 else verdict
    by_domain = ", ".join(f"{domain} {_rho(*pair):+.2f}" for domain, pair in whole.items())
    ours = f"mean rank correlation {mean:+.2f} ({by_domain})"
    return [_hypothesis("H3", ours, f"p = {p:.2g}", verdict, len(whole), len(DOMAINS))]


def errors_and_losses(found: Study, domain: str) -> tuple[np.ndarray, np.ndarray]:
    """The model's error at the queue, and the area that the learned model costs; see H3.

    Returns:
        Both of shape (controls,), for the search-controls that are stored with both models.

    """
    true, learned = (found.cells.get(Cell(domain, model), {}) for model in ("true", "learned"))
    both = [control for control in CONTROLS if control in true and control in learned]
    errors = [queue_error(learned[control]).mean() for control in both]
    losses = [area(true[control]).mean() - area(learned[control]).mean() for control in both]
    return np.array(errors), np.array(losses)


def _rho(first: np.ndarray, second: np.ndarray) -> float:
    ranks = stats.rankdata(first), stats.rankdata(second)
    return float(np.corrcoef(*ranks)[0, 1])


def association(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """The mean rank correlation over domains, and its one-sided p-value by permutation.

    Args:
        pairs: For each domain two arrays of shape (controls,), without ties.

    Returns:
        The mean correlation, and the probability of one at least as great if errors were assigned
        to the search-controls of each domain at random.

    """
    generator, drawn = np.random.default_rng(0), np.zeros(RESAMPLES)
    for errors, losses in pairs:
        first, second = (_standardised(stats.rankdata(values)) for values in (errors, losses))
        shuffled = generator.permuted(np.tile(first, (RESAMPLES, 1)), axis=1)
        drawn += shuffled @ second
    found = sum(_rho(*pair) for pair in pairs)
    p = (int((drawn >= found - 1e-9).sum()) + 1) / (RESAMPLES + 1)
    return found / len(pairs), p


def _standardised(ranks: np.ndarray) -> np.ndarray:
    """Ranks whose products add up to their correlation."""
    centred = ranks - ranks.mean()
    return np.asarray(centred / np.sqrt((centred**2).sum()))


def _h4(found: Study) -> list[Claim]:
    times = found.times.get("gpu", {})
    comparisons = []
    for domain in DOMAINS:
        of = found.cells.get(Cell(domain), {})
        own = {c: times[domain, c] for c in (TD, FREQUENCY) if (domain, c) in times and c in of}
        if len(own) == len((TD, FREQUENCY)):
            returns = over_equal_time({control: of[control] for control in own}, own)
            comparisons.append(
                Comparison(
                    f"{TD} − {FREQUENCY}, mean return over equal time on the GPU, {Cell(domain)}",
                    OURS,
                    returns[TD],
                    returns[FREQUENCY],
                    left_out(of[TD], of[FREQUENCY]),
                )
            )
    rows = judge(comparisons)
    return [_over_domains("H4", rows), *rows]


def _goals(found: Study) -> list[Claim]:
    first = found.complete()
    if len(first) < len(FIRST_STAGE):
        ours = f"{len(first)} of the {len(FIRST_STAGE)} cells of stage 1 are stored"
        return [Claim(goal, GOAL, ours, "", "undecided", "study") for goal in GOALS]
    best = recommended(standings(first, found.worse))
    return [
        _share(found, best),
        _gains(found, best),
        _not_worse_than_er(GOALS[2], best, er_pairs(found, best)),
    ]


def _share(found: Study, best: str) -> Claim:
    cells = [cell for cell in found.worse if best in found.cells[cell]]
    worse = [str(cell) for cell in cells if best in found.worse[cell]]
    share = 1 - len(worse) / len(cells)
    ours = f"{best}: {len(cells) - len(worse)} of {len(cells)} cells, {share:.0%}"
    if worse:
        ours += f"; decidedly worse than the best: {'; '.join(worse)}"
    verdict: Verdict = "holds" if share >= LEAST_SHARE else "does not hold"
    return Claim(GOALS[0], GOAL, ours, "", verdict, "study")


def _gains(found: Study, best: str) -> Claim:
    areas = {domain: found.areas(Cell(domain)) for domain in FIRST_FIVE}
    pairs = {domain: (of[best], of[FREQUENCY]) for domain, of in areas.items()}
    gains = {domain: float(gain(*pair)) for domain, pair in pairs.items()}
    ranges = {domain: stratified_interval(gain, *pair) for domain, pair in pairs.items()}
    reached = sum(one >= LEAST_GAIN for one in gains.values())
    listed = ", ".join(f"{domain} {one:+.0%}" for domain, one in gains.items())
    within = "; ".join(f"[{low:+.0%}, {high:+.0%}]" for low, high in ranges.values())
    verdict: Verdict = "holds" if reached >= LEAST_DOMAINS else "does not hold"
    ours = f"{best}: {reached} of {len(gains)} domains; {listed}"
    return Claim(GOALS[1], GOAL, ours, within, verdict, "study")


def _not_worse_than_er(goal: str, name: str, pairs: Mapping[Cell, Pair]) -> Claim:
    corrected = holm([permutation_p(ours, er) for ours, er in pairs.values()])
    compared = zip(pairs.items(), corrected, strict=True)
    worse = [
        str(cell) for (cell, (ours, er)), p in compared if p < LEVEL and ours.mean() < er.mean()
    ]
    told = f"{name}: decidedly worse in {len(worse)} of {len(pairs)} cells"
    if worse:
        told += f": {'; '.join(worse)}"
    verdict: Verdict = "does not hold" if worse else "holds"
    return Claim(goal, GOAL, told, "", verdict, "study")


def er_pairs(found: Study, control: str) -> Mapping[Cell, Pair]:
    """The areas of a search-control and of ER, in the stored cells that have both."""
    both = (control, ER)
    areas = {cell: found.areas(cell, both) for cell in found.cells}
    return {cell: (of[control], of[ER]) for cell, of in areas.items() if len(of) == len(both)}


def _of_defaults(found: Study) -> Claim:
    chosen = found.chosen_defaults
    if chosen is None:
        ours = "not all trainings of stages 1 and 5 that decide it are stored"
        return Claim(defaults.GOAL, GOAL, ours, "", "undecided", "study")
    own = found.candidates[chosen]
    pairs = {
        place.cell: (area(stored), area(own[defaults.Place(ER, Cell(place.cell.domain))]))
        for place, stored in own.items()
        if place.cell.model == "learned"
    }
    return _not_worse_than_er(defaults.GOAL, chosen, pairs)


def _of_both(found: Study) -> Claim:
    chosen, confirming = defaults.CHOSEN, found.confirming
    er = found.candidates[chosen[1]] if chosen is not None else {}
    places = {cell: defaults.Place(ER, Cell(cell.domain)) for cell in FIRST_STAGE}
    if chosen is None or len(confirming) < len(FIRST_STAGE) or not er.keys() >= {*places.values()}:
        ours = "not all trainings of stages 1, 5 and 6 that decide it are stored"
        return Claim(defaults.GOAL_OF_BOTH, GOAL, ours, "", "undecided", "study")
    pairs = {cell: (area(own), area(er[places[cell]])) for cell, own in confirming.items()}
    return _not_worse_than_er(defaults.GOAL_OF_BOTH, ", ".join(chosen), pairs)
