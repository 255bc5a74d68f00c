"""The evaluation of B: rank correlations of g with the local bandwidth of V (windowed FFT)."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import rankdata, spearmanr

from freqdyna import envs
from freqdyna.agents.networks.mlp import network_from_flat
from freqdyna.agents.networks.state_value import StateValue
from freqdyna.agents.snapshot import RESOLUTION, axes, surfaces
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs import Environment
from freqdyna.results.chart import Axis, Chart, Legend, Mesh, Panel, Points
from reproduction import claims
from reproduction.base import Findings, Stored
from reproduction.claims import Claim
from reproduction.theory import Trend, local_spectrum, window_means

SIZES = (8, 16, 24, 32)
"""Points of a window along each coordinate."""
OVERLAP = 4
"""Windows are a quarter of their size apart."""
DRAWN = 16
"""The window size of the figure."""
SOLVED = -200.0
"""A seed has solved its environment if the mean of its last returns is above this."""
ALONE = 0.95
"""A coordinate with a greater share of the second moment accounts for nearly all of it."""
WORDS = {
    "bandwidth": "local bandwidth of V, plane removed",
    "sloped_bandwidth": "local bandwidth of V, mean removed",
    "product": "energy × second moment",
    "energy": "local energy of V",
}
TRENDS: tuple[Trend, ...] = ("plane", "mean")
BANDWIDTHS = ("bandwidth", "sloped_bandwidth")
"""Keys of WORDS, in the order of TRENDS."""
Regions = dict[str, np.ndarray]
"""Values in each window: g and each key of WORDS."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Four rankings for each environment, and maps of a solved seed."""
    panels: list[Panel] = []
    rows: list[Claim] = []
    header = [f"{size} × {size}" for size in SIZES]
    table: list[list[str]] = [["environment", "rank correlation of g with", *header]]
    rows_judged = len(WORDS) * len(units)
    shares: dict[str, list[float]] = {}
    solved = {name: np.flatnonzero(returns_of(unit) > SOLVED) for name, unit in units.items()}
    for name, unit in units.items():
        env = envs.make(name)
        # No seed of a quick run has solved the task: all are shown, and nothing is decided. A seed
        # that diverged has no return.
        finite = np.flatnonzero(np.isfinite(returns_of(unit)))
        chosen = solved[name] if len(solved[name]) else finite
        if not len(chosen):
            raise FreqdynaError(f"B cannot be analysed: all seeds on {name} diverged")
        found = _surfaces(env, unit, chosen.tolist())
        regions = [[_regions(env, *one, size) for one in found] for size in SIZES]
        for key, what in WORDS.items():
            by_size = [np.array([_rank_correlation(r, key) for r in of]) for of in regions]
            claim = claims.ranking(_what(name, key), "-", by_size, rows_judged)
            rows.append(claim if len(solved[name]) else replace(claim, verdict="undecided"))
            table.append([name, what, *(_interval(one, rows_judged) for one in by_size)])
        shares[name] = [
            float(np.mean([_second_share(env, value, trend) for value, _ in found]))
            for trend in TRENDS
        ]
        panels += _panels(env, chosen.tolist()[0], *found[0])
    title = f"B: g and the spectrum of learned values in windows of {DRAWN} × {DRAWN}"
    chart = Chart(panels, title, columns=4, panel_size=(4.3, 3.7))
    notes = [HOW, *_on_bandwidths(rows, shares, solved), _trained(units, solved)]
    return Findings(chart, rows, table, notes)


HOW = (
    f"Hann windows of the given size on a grid of {RESOLUTION} × {RESOLUTION} points, a quarter of "
    "their size apart; g is averaged over the same windows. Bandwidth is the root mean square "
    "frequency in cycles per unit of the coordinates. It is computed in two ways, since neither is "
    "the only correct one: with the best-fit plane of each window removed, because most of the "
    "energy of a smooth V in a window is its slope, which has no frequency; and with only the mean "
    "removed, including the slope, as in theorem 1. For energy and second moment, the two factors "
    "of theorem 1, only the mean is removed. The correlation is Spearman's over windows, one for "
    "each seed. The intervals in the table are those that decide, at 95% for all rows of a window "
    "size together (Bonferroni)."
)


def _on_bandwidths(
    rows: list[Claim], shares: dict[str, list[float]], solved: dict[str, np.ndarray]
) -> list[str]:
    """Whether the two bandwidths agree, and which coordinate dominates them."""
    verdicts = {claim.what: claim.verdict for claim in rows}
    notes = []
    for name, seeds in solved.items():
        first, second = (verdicts[_what(name, key)] for key in BANDWIDTHS)
        if len(seeds):
            agree = f"agree ({first})" if first == second else "disagree"
            each = "" if first == second else f" ({first}; {second})"
            notes.append(f"On {name} the verdicts with plane and with mean removed {agree}{each}")
    parts = []
    for name, (plane, mean) in shares.items():
        coordinate = envs.make(name).coordinates[1]
        text = f"{name}, {coordinate}: {plane:.1%} (plane removed) and {mean:.1%} (mean removed)"
        if min(plane, mean) > ALONE:
            text += f", so the bandwidth is almost entirely that of {coordinate}"
        parts.append(text)
    shown = "In raw units, the second coordinate contributes this share of the mean of ‖k‖²: "
    notes.append(shown + "; ".join(parts))
    return [f"{note}." for note in notes]


def _what(name: str, key: str) -> str:
    return f"{name}: rank correlation of g, {WORDS[key]}"


def _trained(units: dict[str, Stored], solved: dict[str, np.ndarray]) -> str:
    """What was trained, and which seeds are used."""
    trained = []
    for name, unit in units.items():
        s, returns = unit.settings, returns_of(unit)
        own = solved[name]
        excluded = sorted(set(range(len(returns))) - set(own.tolist()))
        text = (
            f"{name}: {s['algorithm']}, {s['steps']:,} steps of {s['planning_steps']} updates, "
            f"{len(own)} of {len(returns)} seeds solved it"
        )
        if not len(own):
            shown = returns[np.isfinite(returns)]
            text += f" (mean return {shown.mean():.0f}): all are shown, and nothing is decided"
        else:
            text += f" (mean return {returns[own].mean():.0f})"
            text += f", excluded: seeds {', '.join(map(str, excluded))}" if excluded else ""
        diverged = int((~np.isfinite(returns)).sum())
        text += f", {diverged} diverged" if diverged else ""
        trained.append(text)
    return (
        "A seed has solved its environment if the mean return of the last evaluations is above "
        f"{SOLVED:g}; if any seed has, those that have not are excluded. {'; '.join(trained)}."
    )


def returns_of(unit: Stored) -> np.ndarray:
    """The last return of each seed."""
    _, first = np.unique(unit.columns["seed"], return_index=True)
    return np.asarray(unit.columns["last_return"][first])


def _surfaces(
    env: Environment, unit: Stored, seeds: list[int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """V and g of each seed on the grid."""
    sizes = (env.observation_size, *unit.settings["hidden"], env.num_actions)
    both = jax.jit(lambda params: surfaces(StateValue(network_from_flat(params, sizes)), env))
    found = []
    for seed in seeds:
        parameters = unit.columns["parameter"][unit.columns["seed"] == seed]
        at = both(jnp.asarray(parameters))
        found.append((np.asarray(at["value"]), np.asarray(at["frequency"])))
    return found


def _regions(env: Environment, value: np.ndarray, frequency: np.ndarray, size: int) -> Regions:
    """The values in windows of one size."""
    first, second = (float(axis[1] - axis[0]) for axis in axes(env, value.shape))
    spacing, stride = (first, second), size // OVERLAP
    whole = local_spectrum(value, spacing, size, stride, "mean")
    return {
        "g": window_means(frequency, size, stride),
        "bandwidth": local_spectrum(value, spacing, size, stride, "plane").bandwidth,
        "sloped_bandwidth": whole.bandwidth,
        "product": whole.energy * whole.second_moment,
        "energy": whole.energy,
    }


def _second_share(env: Environment, value: np.ndarray, trend: Trend) -> float:
    """The second coordinate's share of the second moment, averaged over the figure's windows."""
    first, second = (float(axis[1] - axis[0]) for axis in axes(env, value.shape))
    both, alone = (
        local_spectrum(value, (spacing, second), DRAWN, DRAWN // OVERLAP, trend).second_moment
        for spacing in (first, math.inf)  # points infinitely far apart have no frequency
    )
    return float(np.mean(alone / both))


def _rank_correlation(regions: Regions, key: str) -> float:
    return float(spearmanr(regions["g"].ravel(), regions[key].ravel()).statistic)


def _interval(correlations: np.ndarray, rows: int) -> str:
    low, high = claims.corrected_interval(correlations, rows)
    return f"{correlations.mean():+.2f} [{low:+.2f}, {high:+.2f}]"


def _panels(env: Environment, seed: int, value: np.ndarray, frequency: np.ndarray) -> list[Panel]:
    """V, g and the bandwidth over the state space, and the ranks of the last two."""
    found = _regions(env, value, frequency, DRAWN)
    x, y = axes(env, value.shape)
    middle = np.arange(found["g"].shape[0]) * (DRAWN // OVERLAP) + (DRAWN - 1) / 2
    inner_x, inner_y = (np.interp(middle, np.arange(len(axis)), axis) for axis in (x, y))
    least = max(float(frequency.min()), 1e-4 * float(frequency.max()))
    x_axis, y_axis = (
        Axis(name, low=float(axis[0]), high=float(axis[-1]))
        for name, axis in zip(env.coordinates, (x, y), strict=True)
    )
    bandwidth = found["bandwidth"]
    maps = {
        f"V, seed {seed}": Mesh(x, y, value.T, _range(value)),
        "g": Mesh(x, y, frequency.T, (least, float(frequency.max())), log=True),
        "bandwidth, plane removed": Mesh(inner_x, inner_y, bandwidth.T, _range(bandwidth)),
    }
    return [
        *(
            Panel(f"{env.name}: {title}", x_axis, y_axis, [mesh], is_map=True)
            for title, mesh in maps.items()
        ),
        _ranks_panel(env, found),
    ]


def _range(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _ranks_panel(env: Environment, found: Regions) -> Panel:
    """Ranks of the windows by g and by the windowed FFT."""
    ranks = {key: rankdata(values) for key, values in found.items()}
    marks = []
    for key, color in (("product", "tab:blue"), ("bandwidth", "red")):
        label = f"{WORDS[key]}: {_rank_correlation(found, key):+.2f}"
        # The report's page shows the series of all panels together.
        series = f"{env.name}, {label}"
        marks.append(Points(ranks["g"], ranks[key], color, size=15, label=label, series=series))
    return Panel(
        x=Axis("rank of the region by g"),
        y=Axis("rank by the windowed FFT"),
        marks=marks,
        legend=Legend("above", size=9),
    )
