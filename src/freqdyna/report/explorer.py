"""Snapshots of runs with two-dimensional states, packed for the report's explorer."""

import base64
from collections.abc import Sequence

import matplotlib
import numpy as np

from freqdyna import envs
from freqdyna.envs.picture import COLORS
from freqdyna.envs.space import Space
from freqdyna.report.charts import rounded
from freqdyna.report.section import Json
from freqdyna.results.plot import COLORS as COLORS_OF
from freqdyna.results.plot import run_labels
from freqdyna.results.result import Result

CLIMBED = {
    "dyna-frequency": ["g", "V"],
    "dyna-value": ["V"],
    "dyna-gradnorm": ["‖∇V‖²", "V"],
    "dyna-hessnorm": ["‖H‖²", "V"],
    "dyna-value-plus-frequency": ["V + g", "V"],
    "dyna-value-times-frequency": ["V·g", "V"],
}
"""What the climbs of each rule follow, by the number of the rule."""
SEEDS = 3
"""Seeds of a run that are shown at most: each takes as much room as the others."""
STATES = 500
"""States shown of each store."""
RANGE = 1e6
"""g is shown over so many orders of magnitude below its greatest value."""


def explorers(results: Sequence[Result]) -> list[Json]:
    """One explorer for each environment of which a run has snapshots to show."""
    order = [*COLORS_OF, *(result.config.algorithm for result in results)]
    shown = sorted(
        (result for result in results if is_shown(result)),
        key=lambda result: order.index(result.config.algorithm),
    )
    names = list(dict.fromkeys(result.config.env for result in shown))
    found = [_explorer(name, [r for r in shown if r.config.env == name]) for name in names]
    # The plainest first: what there is to see is seen sooner.
    return sorted(found, key=lambda explorer: len(explorer["landmarks"]))


def is_shown(result: Result) -> bool:
    """Whether all of a run's snapshots show surfaces and numbered actions over two coordinates."""
    shown = result.snapshots.values()
    return bool(shown) and all(
        {"frequency", "policy", "bounds"} <= set(one) and one["policy"].dtype.kind in "iu"
        for one in shown
    )


def _explorer(name: str, results: list[Result]) -> Json:
    first = next(iter(results[0].snapshots.values()))
    low, high = first["bounds"][0]
    space = envs.ENVIRONMENTS.get(name)
    landmarks = envs.make(name).landmarks if space else ()
    actions = range(int(max(s["policy"].max() for r in results for s in r.snapshots.values())) + 1)
    labels = run_labels([result.config for result in results])
    return {
        "env": name,
        "coordinates": list((space or Space).coordinates),
        "low": rounded(low),
        "high": rounded(high),
        "landmarks": [
            {"kind": kind, "color": "rgb({},{},{})".format(*COLORS[kind])}
            | {"low": list(map(float, low)), "high": list(map(float, high))}
            for kind, low, high in landmarks
        ],
        "actions": list(space.action_names if space else ()) or [f"action {i}" for i in actions],
        "colormaps": {"value": _colormap("viridis"), "frequency": _colormap("magma")},
        "runs": [_run(r, label, low, high) for r, label in zip(results, labels, strict=True)],
    }


def _run(result: Result, label: str, low: np.ndarray, high: np.ndarray) -> Json:
    seeds = result.seeds[:SEEDS]
    return {
        "label": label,
        "climbed": CLIMBED.get(result.config.algorithm, ["its objective"]),
        "seeds": [int(seed) for seed in seeds],
        "steps": sorted(result.snapshots),
        "frames": [
            [_frame(result.snapshots[step], row, low, high) for step in sorted(result.snapshots)]
            for row in range(len(seeds))
        ],
        "evaluations": [int(step) for step in result.steps],
        "returns": np.round(result.returns[: len(seeds)], 1).tolist(),
    }


def _frame(snapshot: dict[str, np.ndarray], row: int, low: np.ndarray, high: np.ndarray) -> Json:
    g = np.maximum(snapshot["frequency"][row], 1e-12)
    g = np.log10(np.maximum(g, g.max() / RANGE))
    frame: Json = {
        "value": _levels(snapshot["value"][row]),
        "frequency": _levels(g),
        "policy": _bytes(snapshot["policy"][row].T.astype(np.uint8)),
        "replay": _places(snapshot["replay"][row, :STATES], low, high),
        "climbs": [],
    }
    if "queue" in snapshot:
        count = int(snapshot["queue_count"][row])
        frame["queue"] = _places(snapshot["queue"][row, : STATES if count else 0], low, high)
    if "climb_states" in snapshot:
        frame["climbs"] = [
            {"rule": rule, "path": _places(path, low, high)}
            for rule, path in _climbs(snapshot, row)
        ]
    return frame


def _climbs(snapshot: dict[str, np.ndarray], row: int) -> list[tuple[int, np.ndarray]]:
    """Each climb with its rule and its path, shape (iterations, 2)."""
    found = []
    arrays = (snapshot[f"climb_{what}"][row] for what in ("states", "numbers", "rules"))
    for states, numbers, rules in zip(*arrays, strict=True):
        for number in range(int(numbers.max()) + 1):
            own = numbers == number
            if own.sum() > 1:
                found.append((int(rules[own][0]), states[own]))
    return found


def _levels(surface: np.ndarray) -> Json:
    """A surface in 256 levels between its least and greatest value; x runs fastest."""
    least, greatest = float(surface.min()), float(surface.max())
    span = max(greatest - least, 1e-9)
    levels = np.round((surface - least) / span * 255).astype(np.uint8)
    return {"size": list(surface.shape), "ends": [least, greatest], "data": _bytes(levels.T)}


def _places(states: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """States as pairs of 16-bit shares of the way from bound to bound."""
    shares = (states - low) / (high - low)
    return _bytes(np.round(np.clip(shares, 0, 1) * 65535).astype("<u2"))


def _colormap(name: str) -> str:
    return _bytes((matplotlib.colormaps[name](np.arange(256))[:, :3] * 255).astype(np.uint8))


def _bytes(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
