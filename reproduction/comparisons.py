"""Comparisons of trainings: statistics over seeds, and verdicts under all interpretations."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from scipy import stats

from freqdyna.results.statistics import (
    LEVEL,
    holm,
    iqm,
    permutation_p,
    probability_of_improvement,
    stratified_interval,
)
from reproduction.claims import Claim, Statement, Verdict
from reproduction.study import Stored, area, final, steps_to

TOO_FEW = "none: too few seeds are left"
Measure = Callable[[Stored], np.ndarray]
"""From a training to one number for each seed that neither diverged nor stopped."""


@dataclass(frozen=True)
class Comparison:
    """The claim that `better` is above `worse`; both have one number per seed."""

    statement: Statement
    what: str
    paper: str
    better: np.ndarray
    worse: np.ndarray
    interpretation: str = ""
    """See `Claim.interpretation`."""

    @staticmethod
    def of(
        statement: Statement, what: str, paper: str, measure: Measure, *of: Stored, under: str = ""
    ) -> "Comparison":
        """The comparison of two trainings by a measure, under one interpretation or all."""
        better, worse = map(measure, of)
        return Comparison(statement, what, paper, better, worse, under)

    def claim(self, ours: str, interval: str, verdict: Verdict, rule: str) -> Claim:
        """The claim, judged."""
        stated = self.statement, self.what, self.paper
        return Claim(*stated, ours, interval, verdict, rule, self.interpretation)


def mean_with_interval(
    values: np.ndarray, digits: int = 0, unit: str = "", statistic: Callable[..., Any] = np.mean
) -> str:
    """A statistic over seeds with its 95% interval, as text."""
    if not len(values):
        return TOO_FEW
    low, high = stratified_interval(partial(statistic, axis=-1), values)
    middle = float(statistic(values, axis=-1))
    return f"{middle:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"


def signed(*numbers: float) -> list[str]:
    """Numbers with signs, rounded to integers, or to one decimal if all are small; never -0."""
    digits = int(max(map(abs, numbers)) < 10)
    return [f"{number:+z.{digits}f}" for number in numbers]


def judge(comparisons: Sequence[Comparison]) -> list[Claim]:
    """A verdict on each comparison, by tests corrected for their number (Holm)."""
    corrected = holm([permutation_p(c.better, c.worse) for c in comparisons])
    claims = []
    for one, p in zip(comparisons, corrected, strict=True):
        better, worse = one.better, one.worse
        if not (len(better) and len(worse)):
            claims.append(one.claim(TOO_FEW, "", "undecided", "comparison"))
            continue
        decided: Verdict = "holds" if better.mean() > worse.mean() else "does not hold"
        low, high = stratified_interval(lambda a, b: a.mean(-1) - b.mean(-1), better, worse)
        numbers = better.mean() - worse.mean(), float(iqm(better) - iqm(worse)), low, high
        mean, middle, least, most = signed(*numbers)
        improvement = probability_of_improvement(better, worse)
        ours = f"mean {mean}, IQM {middle}, P(better) {improvement:.2f}"
        verdict: Verdict = decided if p < LEVEL else "undecided"
        claims.append(one.claim(ours, f"[{least}, {most}], p = {p:.2g}", verdict, "comparison"))
    return claims


def judge_spread(comparisons: Sequence[Comparison]) -> list[Claim]:
    """Whether the spread over seeds is smaller in `better`: ratios of standard deviations.

    Each has at least two seeds.
    """
    tests = [stats.levene(c.better, c.worse, center="median").pvalue for c in comparisons]
    claims = []
    for one, p in zip(comparisons, holm([float(test) for test in tests]), strict=True):
        ratio = float(_ratio(one.better, one.worse))
        low, high = stratified_interval(_ratio, one.better, one.worse)
        decided: Verdict = "holds" if ratio < 1 else "does not hold"
        verdict: Verdict = decided if p < LEVEL else "undecided"
        interval = f"[{low:.2f}, {high:.2f}], p = {p:.2g}"
        claims.append(one.claim(f"ratio {ratio:.2f}", interval, verdict, "spread"))
    return claims


def _ratio(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The ratio of standard deviations over seeds."""
    return np.asarray(first.std(-1, ddof=1) / np.maximum(second.std(-1, ddof=1), 1e-12))


def summary(trainings: dict[str, Stored], threshold: float) -> list[list[str]]:
    """A table of area under the curve, final return and steps to a threshold, the header first."""
    rows = [["training", "area: mean", "area: IQM", "final: mean", "final: IQM"]]
    rows[0] += [f"median step of the first evaluation above {threshold:g}"]
    rows[0] += ["seeds that never reach it"]
    for name, stored in trainings.items():
        first = steps_to(stored, threshold)
        middle = float(np.median(first))
        cells = [
            mean_with_interval(values, statistic=one)
            for values in (area(stored), final(stored))
            for one in (np.mean, iqm)
        ]
        reached = f"{middle:,.0f}" if np.isfinite(middle) else "never"
        rows.append([name, *cells, reached, str(int(np.isinf(first).sum()))])
    return rows


T = TypeVar("T")
WHEN_UPDATES_BEGIN: dict[str, dict[str, Any]] = {
    # The paper's algorithm (A.7) updates at every step; its published code waits for 5,000 samples.
    # Our trainings update from the first step on MountainCar.
    "from step 1": {},
    "after warm-up": {"learn_in_warmup": False},
}
RULE = (
    "Every training was done under both interpretations of when updates begin: from step 1, as in "
    "the paper's algorithm, or after the warm-up, as in its published code. Numbers are given in "
    "this order. A claim holds, or does not hold, only if it does so under both; it is undecided "
    "if it is so under both, and its verdict is 'depends' if the two differ."
)
WALLS: dict[str, dict[str, Any]] = {
    # The paper's state space is [0, 1]², so that walls belong to it; its published code climbs
    # through them and refuses moves by their end point. Version 0.1 kept climbs out of walls.
    "walls outside": {},
    "walls inside": {"env.walls_in_state_space": True, "env.collision": "end_point"},
}
EDGES: dict[str, dict[str, Any]] = {
    # "Natural projected gradient ascent" (A.6), and "we omitted the projection step" (A.7).
    "restart": {},
    "clip": {"search_control.boundary": "project"},
}
SIGMAS: dict[str, dict[str, Any]] = {"Σ": {}, "I": {"search_control.preconditioner": "identity"}}
IN_THE_MAZE: dict[str, dict[str, Any]] = {
    f"{walls}, {edge}, {sigma}": WALLS[walls] | EDGES[edge] | SIGMAS[sigma]
    for walls in WALLS
    for edge in EDGES
    for sigma in SIGMAS
}
SEVERAL = 2
"""If there are more interpretations, a claim only counts their verdicts."""


MAZE_RULE = (
    "The trainings were done under eight interpretations: walls outside or inside the state space "
    "(inside, moves are also refused by where they end, as in the published code, rather than by "
    "their path), climbs that leave it restarted or clipped to it, and the covariance Σ or the "
    "identity I. A claim holds, or does not hold, only if it does so under all of them; otherwise "
    "its verdict is 'depends' if it is decided under some, and 'undecided' if under none. The last "
    "table gives the verdict of each."
)


def judge_each(
    groups: Mapping[str, Sequence[T]], judge: Callable[[list[T]], list[Claim]]
) -> dict[str, list[Claim]]:
    """The claims of the same comparisons under each interpretation.

    `judge` gets all of them at once, so that it corrects for their number.
    """
    judged = iter(judge([one for group in groups.values() for one in group]))
    return {name: list(islice(judged, len(group))) for name, group in groups.items()}


def under_all(claims: Mapping[str, Sequence[Claim]]) -> list[Claim]:
    """One claim for each row, with the verdict of all interpretations."""
    rows = zip(*claims.values(), strict=True)
    return [_combined(dict(zip(claims, row, strict=True))) for row in rows]


def table_of(claims: Mapping[str, Sequence[Claim]]) -> list[list[str]]:
    """What `under_all` combines: one row per interpretation, the header first."""
    rows = [["interpretation", *(claim.what for claim in next(iter(claims.values())))]]
    for name, row in claims.items():
        rows.append([name, *(f"{one.ours} {one.interval}: {one.verdict}" for one in row)])
    return rows


def _combined(row: dict[str, Claim]) -> Claim:
    first = next(iter(row.values()))
    if len(row) == 1:
        return first
    verdicts = {name: claim.verdict for name, claim in row.items()}
    counts = Counter(verdicts.values())
    verdict: Verdict = first.verdict if len(counts) == 1 else "depends"
    combined = replace(first, verdict=verdict, by_interpretation=verdicts)
    if len(row) > SEVERAL:
        listed = ", ".join(f"{number} × {one}" for one, number in counts.most_common())
        return replace(combined, ours=f"{len(row)} interpretations: {listed}", interval="")
    decided = [f"{name}: {one}" for name, one in verdicts.items()] if len(counts) > 1 else []
    return replace(
        combined,
        ours=" | ".join([*(claim.ours for claim in row.values()), *decided]),
        interval=" | ".join(claim.interval for claim in row.values()),
    )
