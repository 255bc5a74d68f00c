"""The explorer: snapshots of runs with two-dimensional states, packed for the page.

What it shows first is a rule on the learning curves, typical seeds when half of the seeds have
learned, so that nobody chooses by how the picture looks.
"""

from collections.abc import Iterable, Sequence

import matplotlib
import numpy as np

from freqdyna import envs
from freqdyna.agents.algorithms import ALGORITHMS
from freqdyna.envs.picture import COLORS, Landmark
from freqdyna.envs.space import Space
from freqdyna.report.charts import Json, rounded
from freqdyna.results.chart import ACTION_COLORS, CLIMB_COLORS, STORE_COLORS, record_labels
from freqdyna.results.result import Result
from freqdyna.search_control import SEARCH_CONTROLS

SEEDS = 3
"""The maximum number of seeds per run, because each takes up much space in the page."""
RULE = (
    "It opens with the median seed of each agent, at the first snapshot at which half of the seeds "
    "of every agent have learned."
)
STATES = 500
"""The number of states drawn from the replay buffer and from the queue."""
POSITIONS = 512
"""The number of positions of states on each axis; the page draws a dot over six of them."""
RANGE = 1e6
"""The ratio between the largest and the smallest value of g that is drawn."""
LEVELS = {"value": 256, "frequency": 128}
"""The number of levels of a surface. Those of g differ by less than 12%."""


def explorers(results: Sequence[Result]) -> list[Json]:
    """One explorer for each environment in which a run has snapshots of two coordinates."""
    order = [*ALGORITHMS, *(result.config.algorithm for result in results)]
    by_env: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: order.index(result.config.algorithm)):
        snapshots = result.snapshots.values()
        drawn = snapshots and all({"frequency", "policy", "bounds"} <= set(s) for s in snapshots)
        if drawn and len(_complete_rows(result)):
            by_env.setdefault(result.env_name, []).append(result)
    # The simplest first, because it is easiest to understand.
    data = [_explorer(name, of_env) for name, of_env in by_env.items()]
    return sorted(data, key=lambda explorer: len(explorer["landmarks"]))


def _complete_rows(result: Result) -> np.ndarray:
    """The seeds that neither diverged nor stopped."""
    surfaces = [one[name] for one in result.snapshots.values() for name in ("value", "frequency")]
    finite = np.all([np.isfinite(surface).all(axis=(1, 2)) for surface in surfaces], axis=0)
    return np.flatnonzero(finite & result.complete_seeds.kept)


def _explorer(env_name: str, results: list[Result]) -> Json:
    name = results[0].config.env
    space = envs.ENVIRONMENTS.get(name)
    landmarks = envs.make(name).landmarks if space else ()
    runs = [
        _run(result, label, landmarks)
        for result, label in zip(results, record_labels(results), strict=True)
    ]
    low, high = next(iter(results[0].snapshots.values()))["bounds"][_complete_rows(results[0])[0]]
    searched = _searched(runs)
    curves = [(result.steps, result.returns[_complete_rows(result)]) for result in results]
    opens = first_step(curves, searched)
    return {
        "env": env_name,
        "coordinates": list((space or Space).coordinates),
        "low": rounded(low),
        "high": rounded(high),
        "positions": POSITIONS,
        "landmarks": [
            {
                "kind": landmark.kind,
                "color": "rgb({},{},{})".format(*COLORS[landmark.kind]),
                "outline": rounded(landmark.outline()),
            }
            for landmark in landmarks
        ],
        "actions": list(space.action_names if space else ()) or _actions(results),
        "colors": {"actions": ACTION_COLORS, "climbs": CLIMB_COLORS, **STORE_COLORS},
        "colormaps": {"value": _colormap("viridis"), "frequency": _colormap("magma")},
        "runs": runs,
        "opens": opens or searched[-1],
        "rule": RULE if opens else "",
    }


def _actions(results: list[Result]) -> list[str]:
    """Names of discrete actions; none if they are continuous."""
    policies = [s["policy"] for r in results for s in r.snapshots.values()]
    largest = [int(p.max()) for p in policies if p.dtype.kind in "iu"]
    return [f"action {i}" for i in range(max(largest, default=-1) + 1)]


def _searched(runs: list[Json]) -> list[int]:
    """The steps with a snapshot of every run at which no queue is empty; the last if none is."""
    common = set.intersection(*(set(run["steps"]) for run in runs))
    steps = sorted(common or {step for run in runs for step in run["steps"]})

    def searched(step: int) -> bool:
        at = [run["frames"][0][run["steps"].index(step)] for run in runs if step in run["steps"]]
        return all(frame.get("queue") != "" for frame in at)

    return [step for step in steps if searched(step)] or steps[-1:]


def _run(result: Result, label: str, landmarks: Sequence[Landmark]) -> Json:
    complete = _complete_rows(result)
    rows = complete[typical_rows(result.returns[complete], SEEDS)]
    steps = sorted(result.snapshots)
    control = result.config.search_control
    kind = SEARCH_CONTROLS.get(control or "")
    return {
        "label": label,
        "finds": SEARCH_CONTROLS.summary(kind) if kind else control,
        "climbed": list(kind.climb_rules if kind else ()) or ["its objective"],
        "seeds": result.seeds[rows].tolist(),
        "steps": steps,
        "frames": [
            [frame(result.snapshots[step], row, landmarks) for step in steps]
            for row in rows.tolist()
        ],
        "evaluations": [int(step) for step in result.steps],
        "returns": rounded(result.returns[rows]),
    }


def _colormap(name: str) -> str:
    return packed((matplotlib.colormaps[name](np.arange(256))[:, :3] * 255).astype(int))


def typical_rows(returns: np.ndarray, number: int) -> list[int]:
    """The median seed by mean return, then the quartiles, then the others from the best on.

    Of an even number of seeds, the better of the two in the middle is the median. The returns have
    shape (seeds, evaluations); `number` is the maximum number of seeds.
    """
    ranked = np.argsort(-returns.mean(axis=1), kind="stable").tolist()
    last = len(ranked) - 1
    ranks = dict.fromkeys([last // 2, last // 4, 3 * last // 4, *range(len(ranked))])
    return [ranked[rank] for rank in ranks][:number]


def first_step(curves: Sequence[tuple[np.ndarray, np.ndarray]], steps: Sequence[int]) -> int | None:
    """The first of some steps at which half of the seeds of every run have learned, or None.

    A seed has learned if its latest return is above the middle between the lowest and the highest
    return of all runs. The curve of a run is its evaluated steps, shape (evaluations,), and its
    returns, shape (seeds, evaluations).
    """
    every = np.concatenate([returns.ravel() for _, returns in curves])
    middle = (every.min() + every.max()) / 2

    def share(evaluated: np.ndarray, returns: np.ndarray, step: int) -> float:
        """The share of the seeds that have learned."""
        before = np.flatnonzero(evaluated <= step)
        return float(np.mean(returns[:, before[-1]] > middle)) if len(before) else 0.0

    return next((s for s in steps if all(share(*curve, s) >= 0.5 for curve in curves)), None)


def frame(snapshot: dict[str, np.ndarray], row: int, landmarks: Iterable[Landmark]) -> Json:
    """Surfaces, states and climbs of the seed in a row, and the percentiles of g of the states."""
    low, high = snapshot["bounds"][row]
    g = snapshot["frequency"][row]
    logs = np.log10(np.maximum(np.maximum(g, 1e-12), g.max() / RANGE))
    data: Json = {
        "value": _levels(snapshot["value"][row], LEVELS["value"]),
        "frequency": _levels(logs, LEVELS["frequency"]),
        "policy": _policy(snapshot["policy"][row]),
        "climbs": [],
        "percentiles": {},
    }
    stores = {"replay": snapshot["replay"][row]}
    if "queue" in snapshot:
        count = int(snapshot["queue_count"][row])
        stores["queue"] = snapshot["queue"][row, : None if count else 0]
        if count and "climb_states" in snapshot:  # there are no searches before that
            data["climbs"] = [
                {"rule": rule, "path": packed(_positions(path, low, high))}
                for rule, path in _climbs(snapshot, row)
            ]
    free = ~_walls(g.shape, low, high, landmarks)
    for name, states in stores.items():
        positions = _positions(states[:STATES], low, high)
        # Their order does not matter; sorted, most differences are small.
        data[name] = packed(positions[np.lexsort(positions.T[::-1])])
        if len(states):
            shares = (states - low) / (high - low)
            data["percentiles"][name] = round(_percentile(g, free, shares), 3)
    return data


def packed(table: np.ndarray) -> str:
    """A table of integers as text that compresses well: one character for each number.

    A character stands for the difference from the number above it, which is small if the rows
    change slowly: 0, -1, 1, -2, ... are the characters from `#` on. The page decodes it. Numbers
    are at most 10,000.
    """
    differences = np.diff(table.astype(int), axis=0, prepend=0).ravel()
    codes = np.where(differences < 0, -2 * differences - 1, 2 * differences)
    return "".join(map(chr, codes + ord("#")))


def _percentile(g: np.ndarray, free: np.ndarray, shares: np.ndarray) -> float:
    """The mean percentile of g over states, which are scaled to [0, 1], shape (states, 2).

    The percentile of a state is the fraction of the free points of the grid where g is smaller. The
    mean is 0.5 for states that are uniform over the free space.
    """
    space = np.sort(g[free])
    x, y = np.round(np.clip(shares, 0, 1) * (np.array(g.shape) - 1)).astype(int).T
    ranks = sum(np.searchsorted(space, g[x, y], side) for side in ("left", "right"))
    return float(np.mean(ranks) / 2 / len(space))


def _walls(
    shape: tuple[int, ...], low: np.ndarray, high: np.ndarray, landmarks: Iterable[Landmark]
) -> np.ndarray:
    """Which points of the grid are inside a wall, excluding its holes."""
    axes = [np.linspace(*ends) for ends in zip(low, high, shape, strict=True)]
    x, y = np.meshgrid(*axes, indexing="ij")
    inside = np.zeros(shape, bool)
    for landmark in landmarks:
        (x0, y0), (x1, y1) = landmark.low, landmark.high
        inside[(x > x0) & (x < x1) & (y > y0) & (y < y1)] = landmark.kind == "wall"
    return inside


def _policy(actions: np.ndarray) -> Json | str:
    """The indices of discrete actions, or levels of the first of several continuous actions."""
    if actions.dtype.kind in "iu":
        return packed(actions.T)
    return _levels(actions.reshape(*actions.shape[:2], -1)[:, :, 0], LEVELS["value"])


def _climbs(snapshot: dict[str, np.ndarray], row: int) -> list[tuple[int, np.ndarray]]:
    """The rule and the path of each climb; a path has shape (iterations, 2)."""
    climbs = []
    arrays = (snapshot[f"climb_{what}"][row] for what in ("states", "numbers", "rules"))
    for states, numbers, rules in zip(*arrays, strict=True):
        for number in range(int(numbers.max()) + 1):
            of_climb = numbers == number
            if of_climb.sum() > 1:
                climbs.append((int(rules[of_climb][0]), states[of_climb]))
    return climbs


def _levels(surface: np.ndarray, number: int) -> Json:
    """A surface in levels between its minimum and maximum; x varies fastest."""
    least, greatest = float(surface.min()), float(surface.max())
    span = max(greatest - least, 1e-9)
    levels = np.round((surface - least) / span * (number - 1))
    size, ends = list(surface.shape), [least, greatest]
    return {"size": size, "ends": ends, "levels": number, "data": packed(levels.T)}


def _positions(states: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The positions of states between the bounds, integers from 0 to `POSITIONS` - 1."""
    shares = (states - low) / (high - low)
    return np.round(np.clip(shares, 0, 1) * (POSITIONS - 1)).astype(int)
