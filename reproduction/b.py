"""B, one of our own checks: g and the local bandwidth of learned values (windowed FFT).

Q networks are trained on MountainCar and in the maze; D analyses the same networks.
"""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.stats import spearmanr

from freqdyna import envs
from freqdyna.agents.dyna.view import RESOLUTION, axes
from freqdyna.agents.networks import StateValue, network_from_flat
from freqdyna.envs import Environment
from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Panel, SeedCurve
from freqdyna.results.record import Record
from reproduction import claims
from reproduction.claims import Claim, Statement
from reproduction.study import Columns, Findings, Part, Stored, Unit
from reproduction.theory import local_spectrum, window_means

TRAININGS: dict[str, dict[str, Any]] = {
    "MountainCar-v0": {"algorithm": "dyna-frequency", "steps": 15_000},
    # Planning from uniform states needs no climbs, and with a third of the paper's updates it
    # solves the maze in minutes, where the paper's algorithms take hours.
    "MazeGridWorld": {"algorithm": "dyna-uniform", "planning_steps": 10, "steps": 40_000},
}
QUICK = {"seeds": 2, "steps": 300, "planning_steps": 1, "warmup_steps": 100, "eval_every": 50}
LAST = 5
"""The number of last evaluations that decide whether a seed has solved the task."""
SOLVED = -200.0
"""A seed has solved its environment if the mean of its last returns is above this."""
GRID = (RESOLUTION, RESOLUTION)
SIZES = (8, 16, 24, 32)
OVERLAP = 4
"""Windows are a quarter of their size apart."""
SHADED = "shaded: the intervals that decide"
BANDWIDTH = Statement("g ranks states by the local bandwidth of V")
ENERGY = Statement("g ranks states by the local energy of V, alone or times the second moment")
RANKINGS = {
    "bandwidth": (BANDWIDTH, "local bandwidth of V, plane removed", "red"),
    "sloped_bandwidth": (BANDWIDTH, "local bandwidth of V, mean removed", "tab:orange"),
    "product": (ENERGY, "energy × second moment", "tab:blue"),
    "energy": (ENERGY, "local energy of V", "black"),
}
"""What g is compared with: the statement, words and a colour."""
Regions = dict[str, np.ndarray]
"""Values in each window: g and each key of RANKINGS."""
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


def units(quick: bool) -> list[Unit]:
    """One unit per environment."""
    return [learned(env, quick, env=env, **settings) for env, settings in TRAININGS.items()]


def learned(name: str, quick: bool, **settings: Any) -> Unit:
    """A training of which the parameters are stored."""
    return Unit(name, {"seeds": 10} | settings | (QUICK if quick else {}), keep=parameters_of)


def parameters_of(record: Record) -> Columns:
    """The trained parameters, one row per seed and parameter."""
    count = record.parameters.shape[1]
    last = record.returns[:, -LAST:].mean(axis=1)
    return {
        "seed": np.repeat(record.seeds.astype(np.int32), count),
        "last_return": np.repeat(last.astype(np.float32), count),
        "parameter": record.parameters.astype(np.float32).ravel(),
    }


def returns_of(stored: Stored) -> np.ndarray:
    """The mean of the last returns of each seed."""
    _, first = np.unique(stored.columns["seed"], return_index=True)
    return np.asarray(stored.columns["last_return"][first])


def chosen_seeds(stored: Stored) -> np.ndarray:
    """The seeds that solved their environment; all that did not diverge if none did."""
    returns = returns_of(stored)
    solved = np.flatnonzero(returns > SOLVED)
    return solved if len(solved) else np.flatnonzero(np.isfinite(returns))


@dataclass(frozen=True)
class Surfaces:
    """V, ‖∇V‖ and ‖H_V‖_F at points of a grid over the state space, of shape (seeds, points)."""

    value: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    scaled_hessian: np.ndarray
    """The same for states scaled to [0, 1] and V divided by its range over the grid."""

    @property
    def frequency(self) -> np.ndarray:
        """G = ‖∇V‖² + ‖H_V‖²_F."""
        return self.gradient**2 + self.hessian**2

    @staticmethod
    def of(stored: Stored) -> "Surfaces":
        """The surfaces of the seeds that are used, see `chosen_seeds`."""
        env, columns = envs.make(stored.settings["env"]), stored.columns
        sizes = (env.observation_size, *(stored.unit.config["learner.hidden"]), env.num_actions)
        width = jnp.asarray(env.high - env.low)

        def at(params: Float[Array, " p"], state: Float[Array, " 2"]) -> tuple[Array, ...]:
            evaluated = StateValue(network_from_flat(params, sizes)).derivatives(state)
            scaled = evaluated.hessian * width * width[:, None]
            norms = (
                jnp.linalg.norm(one) for one in (evaluated.gradient, evaluated.hessian, scaled)
            )
            return evaluated.value, *norms

        over_grid = jax.jit(jax.vmap(at, in_axes=(None, 0)))
        grid = np.stack(np.meshgrid(*axes(env, GRID), indexing="ij"), axis=-1)
        points = jnp.asarray(grid.reshape(-1, 2), jnp.float32)
        evaluated = [
            over_grid(jnp.asarray(columns["parameter"][columns["seed"] == seed]), points)
            for seed in chosen_seeds(stored)
        ]
        value, gradient, hessian, scaled = (
            np.stack([np.asarray(one, np.float64) for one in of])
            for of in zip(*evaluated, strict=True)
        )
        return Surfaces(value, gradient, hessian, scaled / np.ptp(value, axis=1, keepdims=True))


def on_seeds(units: dict[str, Stored]) -> str:
    """How many seeds solved their environment and are therefore used."""
    returns = {name: returns_of(stored) for name, stored in units.items()}
    parts = [f"{name}: {(of > SOLVED).sum()} of {len(of)} seeds" for name, of in returns.items()]
    return (
        f"A seed has solved its environment if the mean return of the last {LAST} evaluations is "
        f"above {SOLVED:g}. Only these are used; if there is none, all are shown and nothing is "
        f"decided. {'; '.join(parts)}."
    )


def analyse(units: dict[str, Stored]) -> Findings:
    """Four rankings for each environment, by window size."""
    panels: list[Panel] = []
    rows: list[Claim] = []
    table = [["environment", "rank correlation of g with", *(f"{s} × {s}" for s in SIZES)]]
    number = len(RANKINGS) * len(units)
    for name, stored in units.items():
        env, surfaces = envs.make(name), Surfaces.of(stored)
        solved = (returns_of(stored) > SOLVED).any()
        pairs = zip(surfaces.value, surfaces.frequency, strict=True)
        grids = [(value.reshape(GRID), frequency.reshape(GRID)) for value, frequency in pairs]
        regions = [[regions_of(env, *one, size) for one in grids] for size in SIZES]
        marks = []
        for key, (statement, words, color) in RANKINGS.items():
            by_size = [np.array([rank_correlation(one, key) for one in of]) for of in regions]
            what = f"{name}: rank correlation of g, {words}"
            claim = claims.ranking(statement, what, "-", by_size, number)
            rows.append(claim if solved else replace(claim, verdict="undecided"))
            low, high = np.array([claims.corrected_interval(one, number) for one in by_size]).T
            curves, range_ = np.stack(by_size, axis=1), (low, high)
            style = LineStyle(color)
            marks.append(SeedCurve(np.array(SIZES), curves, style, range_, label=words))
            cells = zip(curves.mean(axis=0), low, high, strict=True)
            table.append([name, words, *("{:+.2f} [{:+.2f}, {:+.2f}]".format(*c) for c in cells)])
        style, ends = LineStyle("0.5", "dotted"), np.array([SIZES[0], SIZES[-1]])
        half = Line(ends, np.full(2, claims.RANK_CORRELATION), style)
        legend = None if panels else Legend("lower right")
        x, y = Axis("points of a window along each coordinate"), Axis("rank correlation of g")
        panels.append(Panel(name, x, y, [*marks, half], legend=legend))
    chart = Chart(panels, f"B: g and the spectrum of learned values, {SHADED}", share_y=True)
    return Findings(chart, rows, table, [HOW, on_seeds(units)])


def regions_of(env: Environment, value: np.ndarray, frequency: np.ndarray, size: int) -> Regions:
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


def rank_correlation(regions: Regions, key: str) -> float:
    """Spearman's correlation of g with another value, over windows."""
    return float(spearmanr(regions["g"].ravel(), regions[key].ravel()).statistic)


PART = Part("B", "own check: g and local bandwidth of learned values", "8 minutes", units, analyse)
