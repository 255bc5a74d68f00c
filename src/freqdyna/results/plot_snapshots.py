"""Pictures of snapshots: where the replay and the queue are, V and g, and tabular episodes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from freqdyna import envs
from freqdyna.agents.snapshot import axes
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs import Environment
from freqdyna.envs.picture import COLORS
from freqdyna.results.record import Record
from freqdyna.results.run_styles import run_colors, run_labels
from freqdyna.results.statistics import bootstrap_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Snapshot = dict[str, np.ndarray]
PANEL = 4.2
"""Inches along a side of a panel."""
TITLES = {"value": "V(s)", "frequency": "local frequency g(s)"}


def plot_states(
    results: Sequence[Record], step: int | None = None, seed: int | None = None
) -> Figure:
    """States of the replay beside states of the search-control queue, one row a run."""
    figure = Figure(figsize=(2 * PANEL, PANEL * len(results)), dpi=150, layout="constrained")
    rows = figure.subplots(len(results), 2, squeeze=False)
    for result, label, row in zip(results, _labels(results), rows, strict=True):
        env, (at, snapshot) = _environment(result), _snapshot(result, step, "replay")
        index, name = _seed(result, seed)
        for panel, store, color in zip(row, ("replay", "queue"), ("0.35", "red"), strict=True):
            if store not in snapshot or (store == "queue" and not snapshot["queue_count"][index]):
                panel.set_axis_off()
                panel.text(0.5, 0.5, f"{label}: no {store}", ha="center")
                continue
            x, y = snapshot[store][index].T[:: -1 if _rows_first(env) else 1]
            frame(panel, env)
            panel.scatter(x, y, s=2, color=color, alpha=0.5, linewidths=0, zorder=3)
            panel.set_title(f"{store} of {label}\nseed {name}, step {at:,}", fontsize=10)
    return figure


def plot_surfaces(
    results: Sequence[Record], what: str, step: int | None = None, seed: int | None = None
) -> Figure:
    """The value V or the local frequency g over the state space, one panel a run."""
    figure = Figure(figsize=((PANEL + 1) * len(results), PANEL), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(results), squeeze=False)[0]
    for result, label, panel in zip(results, _labels(results), panels, strict=True):
        env, (at, snapshot) = _environment(result), _snapshot(result, step, what)
        index, name = _seed(result, seed)
        surface = snapshot[what][index]
        scale: dict[str, Any] = {}
        if what == "frequency":  # it spans orders of magnitude
            greatest = max(float(surface.max()), 1e-12)
            scale = {"norm": LogNorm(max(float(surface.min()), 1e-6 * greatest), greatest)}
        coordinates = axes(env, surface.shape)
        frame(panel, env, filled=False)
        if _rows_first(env):
            coordinates, surface = coordinates[::-1], surface.T
        image = panel.pcolormesh(
            *coordinates, surface.T, shading="nearest", rasterized=True, **scale
        )
        figure.colorbar(image, ax=panel, label=TITLES[what])
        panel.set_title(f"{label}\nseed {name}, step {at:,}", fontsize=10)
    return figure


def plot_episodes(results: Sequence[Record], step: int | None = None) -> Figure:
    """Steps of each training episode of a tabular agent, mean and interval over seeds."""
    figure = Figure(figsize=(6.4, 4.4), dpi=150, layout="constrained")
    panel = figure.subplots()
    labels = _labels(results)
    colors = run_colors([result.config.algorithm for result in results], labels)
    for result, label, color in zip(results, labels, colors, strict=True):
        lengths = _snapshot(result, step, "episode_lengths")[1]["episode_lengths"]
        finished = int((lengths > 0).all(axis=0).sum())  # episodes that every seed has finished
        if finished == 0:
            raise FreqdynaError(f"no episode of {label} was finished by every seed; train longer")
        low, high = bootstrap_interval(lengths[:, :finished])
        episodes = np.arange(1, finished + 1)
        panel.plot(episodes, lengths[:, :finished].mean(axis=0), color=color, label=label)
        panel.fill_between(episodes, low, high, color=color, alpha=0.2, linewidth=0)
    panel.set_yscale("log")
    panel.set_xlabel("training episode")
    panel.set_ylabel("steps of the episode (mean, 95% interval)")
    panel.set_xlim(1, 50)
    panel.grid(alpha=0.3, which="both")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False)
    return figure


def _labels(results: Sequence[Record]) -> list[str]:
    return run_labels([result.config for result in results])


def _environment(result: Record) -> Environment:
    """The run's environment, which must have two coordinates to be drawn."""
    env = envs.make(result.config.env)
    if env.observation_size != 2:
        raise FreqdynaError(
            f"env is {env.name!r} with {env.observation_size} coordinates; "
            "only two-dimensional states can be drawn"
        )
    return env


def _snapshot(result: Record, step: int | None, wanted: str) -> tuple[int, Snapshot]:
    """The snapshot of `step`, or the last, that holds `wanted`."""
    config, steps = result.config, sorted(result.snapshots)
    if not steps:
        raise FreqdynaError(
            f"the run of {config.algorithm} on {config.env} has no snapshots; "
            f"train with --snapshot-steps, such as --snapshot-steps {config.steps}"
        )
    if step is not None and step not in steps:
        raise FreqdynaError(f"step is {step}; it must be one of the snapshots' steps, {steps}")
    at = steps[-1] if step is None else step
    if wanted not in result.snapshots[at]:
        raise FreqdynaError(f"the snapshots of {config.algorithm} hold no {wanted}")
    return at, result.snapshots[at]


def _seed(result: Record, seed: int | None) -> tuple[int, int]:
    """The row of a seed, the first if none is named, and its name."""
    seeds = result.seeds.tolist()
    if seed is not None and seed not in seeds:
        raise FreqdynaError(f"seed is {seed}; it must be one of {seeds}")
    return (0 if seed is None else seeds.index(seed)), (seeds[0] if seed is None else seed)


def _rows_first(env: Environment) -> bool:
    """Whether the state is (row, column), to be drawn as a matrix: columns along, rows down."""
    return env.coordinates[0] == "row"


def frame(panel: "Axes", env: Environment, filled: bool = True) -> None:
    """Axes over the state space, its landmarks filled below the data or outlined above them."""
    order = -1 if _rows_first(env) else 1
    margin = 0.5 if _rows_first(env) else 0.0  # a cell reaches half a step beyond its number
    (x0, y0), (x1, y1) = (env.low - margin)[::order], (env.high + margin)[::order]
    panel.set_xlim(x0, x1)
    panel.set_ylim(*((y1, y0) if _rows_first(env) else (y0, y1)))
    panel.set_xlabel(env.coordinates[::order][0])
    panel.set_ylabel(env.coordinates[::order][1])
    for kind, low, high in env.landmarks:
        (left, bottom), (right, top) = low[::order], high[::order]
        color = np.array(COLORS[kind]) / 255
        solid = filled or kind == "wall"
        panel.add_patch(
            Rectangle(
                (left, bottom),
                right - left,
                top - bottom,
                facecolor=color if solid else "none",
                edgecolor="none" if solid else color,
                linewidth=1.5,
                zorder=1 if filled else 3,
            )
        )
