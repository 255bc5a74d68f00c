"""Snapshots over two coordinates: the states of replay and queue, V and g."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from freqdyna import envs
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.picture import COLORS, Landmark
from freqdyna.envs.space import Space
from freqdyna.results.chart import (
    STORE_COLORS,
    Area,
    Axis,
    Chart,
    Line,
    LineStyle,
    Mark,
    Mesh,
    Panel,
    SeedCurve,
    dots,
    record_labels,
)
from freqdyna.results.record import Record
from freqdyna.results.statistics import bootstrap_interval

Snapshot = dict[str, np.ndarray]
PANEL = 4.2
"""Inches along a side of a panel."""
BINS = 12
"""Points of the curve of the weight over the distance, with equally many states each."""
TITLES = {
    "value": "V(s)",
    "frequency": "local frequency g(s)",
    "trust": "weight of planned transitions",
}


def states_chart(
    results: Sequence[Record], step: int | None = None, seed: int | None = None
) -> Chart:
    """States in the replay buffer and in the search-control queue, one row for each run.

    Of states with more than two coordinates, the first two are drawn. The snapshot is the last one
    unless its step is set, the seed the first one.
    """
    panels = [
        _states_panel(result, label, store, step, seed)
        for result, label in zip(results, record_labels(results), strict=True)
        for store in STORE_COLORS
    ]
    return Chart(panels, columns=len(STORE_COLORS), panel_size=(PANEL, PANEL))


def _states_panel(
    result: Record, label: str, store: str, step: int | None, seed: int | None
) -> Panel:
    at, snapshot = _snapshot(result, step, "replay")
    seed = int(result.seeds[0]) if seed is None else seed
    index = result.row(seed)
    env = _space(result, snapshot, index)
    if store not in snapshot or (store == "queue" and not snapshot["queue_count"][index]):
        return map_panel(env, f"{label}: no {store}", title_size=10)
    x, y = snapshot[store][index].T[:2]
    drawn = dots(x, y, STORE_COLORS[store])
    return map_panel(env, f"{store} of {label}\nseed {seed}, step {at:,}", [drawn], title_size=10)


def surfaces_chart(
    results: Sequence[Record], what: str, step: int | None = None, seed: int | None = None
) -> Chart:
    """What `TITLES` names, such as "value", over the state space, a panel for each run."""
    panels = []
    for result, label in zip(results, record_labels(results), strict=True):
        at, snapshot = _snapshot(result, step, what)
        chosen = int(result.seeds[0]) if seed is None else seed
        index = result.row(chosen)
        env, surface = _space(result, snapshot, index), snapshot[what][index]
        if not np.isfinite(surface).all():
            raise FreqdynaError(
                f"seed {chosen} stopped or diverged before step {at:,}: its {TITLES[what]} is not "
                "finite; choose another seed"
            )
        low, high = float(surface.min()), float(surface.max())
        log = what == "frequency"  # it spans orders of magnitude
        if log:
            high = max(high, 1e-12)
            low = max(low, 1e-6 * high)
        ends = (0.0, 1.0) if what == "trust" else (low, high)
        lines = zip(env.low, env.high, surface.shape, strict=True)
        x, y = (np.linspace(*line) for line in lines)
        mesh = Mesh(x, y, surface.T, ends, log, bar_label=TITLES[what])
        title = f"{label}\nseed {chosen}, step {at:,}"
        panels.append(map_panel(env, title, [mesh], title_size=10, filled=False))
    return Chart(panels, panel_size=(PANEL + 1, PANEL))


def trust_chart(results: Sequence[Record], step: int | None = None) -> Chart:
    """The weight of planned transitions over the distance from visited states, a panel per run.

    The states are those of the queue. The distance is that to the nearest state in the sample of
    the replay buffer, in standard deviations of each coordinate.
    """
    panels = []
    for result, label in zip(results, record_labels(results), strict=True):
        at, snapshot = _snapshot(result, step, "queue_trust")
        rows = searched_rows(result, snapshot)
        if not len(rows):
            raise FreqdynaError(f"the queue of {label} is empty at step {at:,}")
        curve = _trust_curve(*(snapshot[name][rows] for name in ("queue", "replay", "queue_trust")))
        x = Axis("distance from the nearest visited state (deviations)")
        y = Axis(TITLES["trust"], low=-0.03, high=1.03)
        title = f"{label}\n{result.env_name}, step {at:,}"
        panels.append(Panel(title, x, y, [replace(curve, seeds=result.seeds[rows])], title_size=10))
    return Chart(panels, panel_size=(PANEL + 1, PANEL))


def searched_rows(result: Record, snapshot: Snapshot) -> np.ndarray:
    """The complete seeds whose queue has states."""
    return np.flatnonzero(result.complete_seeds.kept & (snapshot["queue_count"] > 0))


def _trust_curve(queues: np.ndarray, replays: np.ndarray, weights: np.ndarray) -> SeedCurve:
    """The mean weight of the states of each queue in bins of their distances.

    Queues and replays have shape (seeds, states, n), weights (seeds, states).
    """
    far = np.array([_distances(*stores) for stores in zip(queues, replays, strict=True)])
    edges = np.unique(np.quantile(far, np.linspace(0, 1, BINS + 1)))
    bins = np.clip(np.searchsorted(edges, far, side="right") - 1, 0, max(len(edges) - 2, 0))
    members = bins[:, None] == np.arange(bins.max() + 1)[:, None]
    members = members[:, members.any(-1).all(0)]  # some seeds may have no state so far away
    means = (members * weights[:, None]).sum(-1) / members.sum(-1)
    places = np.array([np.median(far[of_bin]) for of_bin in members.swapaxes(0, 1)])
    interval = bootstrap_interval(means) if len(means) > 1 else None
    return SeedCurve(places, means, LineStyle("tab:blue"), interval, marker="circle")


def _distances(states: np.ndarray, visited: np.ndarray) -> np.ndarray:
    """The distance of each state, shape (k, n), to the nearest of the visited ones."""
    centre, deviation = visited.mean(axis=0, dtype=float), visited.std(axis=0, dtype=float)
    scale = np.where(deviation > 0, deviation, 1.0)
    states, visited = (states - centre) / scale, (visited - centre) / scale
    # ‖s − v‖² = ‖s‖² − 2 s·v + ‖v‖² needs no array of all differences.
    squares = (states**2).sum(1)[:, None] - 2 * states @ visited.T + (visited**2).sum(1)
    return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0.0)))


def _space(result: Record, snapshot: Snapshot, index: int) -> "Space | RecordedSpace":
    """The state space of a run; if it is not built in, as the snapshot of a seed describes it."""
    name = result.config.env
    if name in envs.ENVIRONMENTS:
        return envs.make(name)
    size = snapshot["replay"].shape[-1]
    if size < 2:
        raise FreqdynaError(f"env is {name!r} with 1 coordinate; states with at least 2 are drawn")
    unbounded = np.array([[-np.inf] * size, [np.inf] * size])
    return RecordedSpace(*(snapshot["bounds"][index] if "bounds" in snapshot else unbounded))


def _snapshot(result: Record, step: int | None, wanted: str) -> tuple[int, Snapshot]:
    """The snapshot after `step` steps, or the last one; it must contain `wanted`."""
    result.require_agent()
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
        why = "; V and g are recorded for two bounded coordinates" if wanted in TITLES else ""
        if wanted == "queue_trust":
            why = "; weights are recorded with a learned model, unless trust is 'always'"
        raise FreqdynaError(f"the snapshots of {config.algorithm} do not contain {wanted}{why}")
    return at, result.snapshots[at]


class RecordedSpace(NamedTuple):
    """The state space of an environment that is not built in, as a snapshot describes it."""

    low: np.ndarray
    high: np.ndarray
    """Bounds of shape (n,), as `low`; not finite where they are not known."""
    coordinates: tuple[str, ...] = Space.coordinates
    landmarks: tuple[Landmark, ...] = ()


def map_panel(
    env: Space | RecordedSpace,
    title: str,
    marks: Sequence[Mark] = (),
    title_size: float = 12.0,
    filled: bool = True,
) -> Panel:
    """A map of the first two coordinates of an environment, with marks and landmarks.

    Landmarks are filled and below the marks if `filled`; otherwise they are above the marks and,
    except for walls, outlined.
    """
    x0, y0, x1, y1 = (
        float(bound) if np.isfinite(bound) else None for bound in (*env.low[:2], *env.high[:2])
    )
    landmarks = [_landmark(one, filled) for one in env.landmarks]
    x_name, y_name = env.coordinates
    return Panel(
        title=title,
        x=Axis(x_name, low=x0, high=x1),
        y=Axis(y_name, low=y0, high=y1),
        marks=[*landmarks, *marks] if filled else [*marks, *landmarks],
        title_size=title_size,
        is_map=True,
    )


def _landmark(landmark: Landmark, filled: bool) -> Area | Line:
    color = "#{:02x}{:02x}{:02x}".format(*COLORS[landmark.kind])
    if filled or landmark.kind == "wall":
        (left, bottom), (right, top) = landmark.low, landmark.high
        spans = landmark.profile or ((left, bottom, top), (right, bottom, top))
        x, below, above = np.array(spans).T
        return Area(x, below, above, color, opacity=1.0)
    corners = landmark.outline()
    x, y = np.array([*corners, corners[0]]).T
    return Line(x, y, LineStyle(color))
