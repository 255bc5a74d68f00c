"""Snapshots of runs with two-dimensional states, packed for the report's explorer."""

from collections.abc import Sequence

import matplotlib
import numpy as np

from freqdyna import envs
from freqdyna.agents.algorithms import ALGORITHMS
from freqdyna.envs.picture import COLORS, Landmark
from freqdyna.envs.space import Space
from freqdyna.report.charts import rounded
from freqdyna.report.first_view import RULE, first_step, typical_rows
from freqdyna.report.section import Json
from freqdyna.report.snapshots import POSITIONS, frame, packed
from freqdyna.results.result import Result
from freqdyna.results.run_styles import record_labels

CLIMBED = {
    "frequency": ["g", "V"],
    "value": ["V"],
    "gradient-norm": ["‖∇V‖²", "V"],
    "hessian-norm": ["‖H‖²", "V"],
    "value-plus-frequency": ["V + g", "V"],
    "value-times-frequency": ["V·g", "V"],
}
"""What the climbs of each search-control follow, by the index of the rule."""
DRAWN = {
    "replay": "sampling visited states",
    "uniform": "sampling the whole space uniformly",
    "td-error": "sampling from uniform candidates in proportion to their |TD error|",
}
"""How search-controls that do not climb find states."""
SEEDS = 3
"""The maximum number of seeds per run, because each takes up much space in the page."""


def explorers(results: Sequence[Result]) -> list[Json]:
    """One explorer for each environment for which a run has snapshots to show."""
    order = [*ALGORITHMS, *(result.config.algorithm for result in results)]
    shown = sorted(
        (result for result in results if is_shown(result)),
        key=lambda result: order.index(result.config.algorithm),
    )
    names = list(dict.fromkeys(result.env_name for result in shown))
    found = [_explorer(name, [r for r in shown if r.env_name == name]) for name in names]
    # The simplest first, because it is easiest to understand.
    return sorted(found, key=lambda explorer: len(explorer["landmarks"]))


def is_shown(result: Result) -> bool:
    """Whether all snapshots of a run contain surfaces over two coordinates."""
    shown = result.snapshots.values()
    drawn = bool(shown) and all({"frequency", "policy", "bounds"} <= set(one) for one in shown)
    return drawn and bool(len(_complete_rows(result)))


def _complete_rows(result: Result) -> np.ndarray:
    """The seeds that neither diverged nor stopped."""
    surfaces = [one[name] for one in result.snapshots.values() for name in ("value", "frequency")]
    finite = np.all([np.isfinite(surface).all(axis=(1, 2)) for surface in surfaces], axis=0)
    return np.flatnonzero(finite & result.complete_seeds.kept)


def _rows(result: Result) -> list[int]:
    """The seeds that are shown, the typical one first."""
    rows = _complete_rows(result)
    return rows[typical_rows(result.returns[rows], SEEDS)].tolist() if len(rows) else []


def _explorer(env_name: str, results: list[Result]) -> Json:
    first = next(iter(results[0].snapshots.values()))
    low, high = first["bounds"][_rows(results[0])[0]]
    name = results[0].config.env
    space = envs.ENVIRONMENTS.get(name)
    landmarks = envs.make(name).landmarks if space else ()
    labels = record_labels(results)
    made: Json = {
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
        "colormaps": {"value": _colormap("viridis"), "frequency": _colormap("magma")},
        "runs": [_run(r, label, landmarks) for r, label in zip(results, labels, strict=True)],
    }
    curves = [(result.steps, result.returns[_complete_rows(result)]) for result in results]
    searched = _searched(made["runs"])
    opens = first_step(curves, searched)
    return made | {"opens": opens or searched[-1], "rule": RULE if opens else ""}


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
    rows = _rows(result)
    steps = sorted(result.snapshots)
    control = _search_control(result)
    made: Json = {
        "label": label,
        "finds": None,
        "climbed": CLIMBED.get(control, ["its objective"]),
        "seeds": result.seeds[rows].tolist(),
        "steps": steps,
        "frames": [
            [frame(result.snapshots[step], row, landmarks) for step in steps] for row in rows
        ],
        "evaluations": [int(step) for step in result.steps],
        "returns": [
            [value if np.isfinite(value) else None for value in row]
            for row in np.round(result.returns[rows], 1).tolist()
        ],
    }
    last = result.snapshots[steps[-1]]
    if "climb_states" in last:
        made["finds"] = "climbing " + " and ".join(made["climbed"])
    elif "queue" in last:
        made["finds"] = DRAWN.get(control, f"its search-control {control}")
    return made


def _search_control(result: Result) -> str:
    recipe = ALGORITHMS.get(result.config.algorithm)
    return result.config.search_control or (recipe.search_control if recipe else None) or ""


def _colormap(name: str) -> str:
    return packed((matplotlib.colormaps[name](np.arange(256))[:, :3] * 255).astype(int))
