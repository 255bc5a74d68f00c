"""What B shows: rank correlations of g with the local bandwidth of V, by a windowed FFT."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.colors import LogNorm
from scipy.stats import rankdata, spearmanr

from freqdyna import envs
from freqdyna.config import Config
from freqdyna.envs import Environment
from freqdyna.experiments import claims, drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.claims import Claim
from freqdyna.frequency.bandwidth import local_spectrum, window_means
from freqdyna.frequency.network import StateValue
from freqdyna.learners.network import network_from_flat
from freqdyna.snapshot import RESOLUTION, axes, surfaces

SIZE, STRIDE = 16, 4
"""Points of a window along each coordinate, a quarter of it, and between two windows."""


def analyse(units: dict[str, Stored]) -> Findings:
    """Three rankings for each environment, and pictures of the first seed."""
    figure = drawing.panels(len(units), 4, width=4.3, height=3.7)
    grid = figure.subplots(len(units), 4, squeeze=False)
    rows: list[Claim] = []
    for panels, (name, unit) in zip(grid, units.items(), strict=True):
        env = envs.make(name)
        rankings = []
        for seed, parameters in enumerate(_parameters(unit)):
            value, frequency = _surfaces(env, parameters)
            found = _regions(env, value, frequency)
            rankings.append({k: _rank_correlation(found["g"], v) for k, v in found.items()})
            if seed == 0:
                _draw(figure, panels, env, value, frequency, found)
        of = {k: np.array([ranking[k] for ranking in rankings]) for k in rankings[0]}
        rows += [
            claims.ranking(f"{name}: rank correlation of g, {what}", "-", of[key])
            for key, what in (
                ("bandwidth", "local bandwidth of V"),
                ("product", "energy × second moment"),
                ("energy", "local energy of V"),
            )
        ]
    figure.suptitle("B: g beside the windowed spectrum of learned values (first seed)")
    returns = {
        name: np.unique(np.stack([u.columns["seed"], u.columns["last_return"]]), axis=1)[1].mean()
        for name, u in units.items()
    }
    notes = (
        f"Hann windows of {SIZE} × {SIZE} of {RESOLUTION} × {RESOLUTION} points, {STRIDE} points "
        "apart, the mean removed; g is averaged over the same windows. Bandwidth is the root mean "
        "square frequency in cycles per unit of the coordinates, of which the window itself brings "
        "some. The correlation is Spearman's, over windows, one for each seed.",
        "Mean return of the last five evaluations: "
        + ", ".join(f"{name} {value:.0f}" for name, value in returns.items())
        + ". MazeGridWorld is trained for fewer steps and updates than in the paper.",
    )
    return Findings(figure, rows, notes=notes)


def _parameters(unit: Stored) -> np.ndarray:
    seeds = len(np.unique(unit.columns["seed"]))
    return unit.columns["parameter"].reshape(seeds, -1)


def _surfaces(env: Environment, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V and g on the grid."""
    hidden = Config(env=env.name).resolved().hidden or ()
    sizes = (env.observation_size, *hidden, env.num_actions)
    network = network_from_flat(jnp.asarray(parameters), sizes)
    both = jax.jit(lambda net: surfaces(StateValue(net), env))(network)
    return np.asarray(both["value"]), np.asarray(both["frequency"])


def _regions(env: Environment, value: np.ndarray, frequency: np.ndarray) -> dict[str, np.ndarray]:
    """What each window holds."""
    first, second = (float(axis[1] - axis[0]) for axis in axes(env, value.shape))
    spectrum = local_spectrum(value, (first, second), SIZE, STRIDE)
    return {
        "g": window_means(frequency, SIZE, STRIDE),
        "bandwidth": spectrum.bandwidth,
        "product": spectrum.energy * spectrum.second_moment,
        "energy": spectrum.energy,
    }


def _rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(spearmanr(one.ravel(), other.ravel()).statistic)


def _draw(
    figure: Any,
    panels: Any,
    env: Environment,
    value: np.ndarray,
    frequency: np.ndarray,
    found: dict[str, np.ndarray],
) -> None:
    """V, g and the bandwidth over the state space, and the ranks of the last two."""
    x, y = axes(env, value.shape)
    middle = np.arange(found["g"].shape[0]) * STRIDE + (SIZE - 1) / 2
    inner = [np.interp(middle, np.arange(len(axis)), axis) for axis in (x, y)]
    least = max(float(frequency.min()), 1e-4 * float(frequency.max()))
    for panel, where, surface, title, scale in (
        (panels[0], (x, y), value, "V", {}),
        (panels[1], (x, y), frequency, "g", {"norm": LogNorm(least, frequency.max())}),
        (panels[2], inner, found["bandwidth"], "bandwidth", {}),
    ):
        mesh = panel.pcolormesh(*where, surface.T, shading="nearest", rasterized=True, **scale)
        figure.colorbar(mesh, ax=panel)
        panel.set_title(f"{env.name}: {title}")
        panel.set_xlabel(env.coordinates[0])
        panel.set_ylabel(env.coordinates[1])
        panel.set_xlim(x[0], x[-1])
        panel.set_ylim(y[0], y[-1])
    ranks = [rankdata(found[key]) for key in ("g", "bandwidth", "product")]
    panels[3].scatter(ranks[0], ranks[2], s=8, color="tab:blue", label="energy × second moment")
    panels[3].scatter(ranks[0], ranks[1], s=8, color="red", label="bandwidth")
    panels[3].legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    drawing.finish(panels[3], "", "rank of the region by g", "rank by the windowed FFT")
