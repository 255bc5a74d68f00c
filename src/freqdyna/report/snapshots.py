"""One snapshot of one seed, packed for the report's explorer."""

import base64
from collections.abc import Iterable

import numpy as np

from freqdyna.envs.picture import Landmark
from freqdyna.report.section import Json

STATES = 500
"""States shown of each store."""
RANGE = 1e6
"""g is shown over so many orders of magnitude below its greatest value."""


def frame(snapshot: dict[str, np.ndarray], row: int, landmarks: Iterable[Landmark]) -> Json:
    """Surfaces, states and climbs of one seed, and how high in g the states lie."""
    low, high = snapshot["bounds"][row]
    g = snapshot["frequency"][row]
    logs = np.log10(np.maximum(np.maximum(g, 1e-12), g.max() / RANGE))
    made: Json = {
        "value": _levels(snapshot["value"][row]),
        "frequency": _levels(logs),
        "policy": _policy(snapshot["policy"][row]),
        "climbs": [],
        "percentiles": {},
    }
    stores = {"replay": snapshot["replay"][row]}
    if "queue" in snapshot:
        count = int(snapshot["queue_count"][row])
        stores["queue"] = snapshot["queue"][row, : None if count else 0]
        if count and "climb_states" in snapshot:  # before that, no search is made
            made["climbs"] = [
                {"rule": rule, "path": _places(path, low, high)}
                for rule, path in _climbs(snapshot, row)
            ]
    free = ~_walls(g.shape, low, high, landmarks)
    for name, states in stores.items():
        made[name] = _places(states[:STATES], low, high)
        if len(states):
            made["percentiles"][name] = round(
                _percentile(g, free, (states - low) / (high - low)), 3
            )
    return made


def packed(array: np.ndarray) -> str:
    """The bytes of an array as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _percentile(g: np.ndarray, free: np.ndarray, shares: np.ndarray) -> float:
    """The mean, over states, of the share of the free space where g is less than at the state.

    It is 0.5 for states that are uniform over the free space. States are shares of the way from
    bound to bound, and have the g of the nearest point of the grid.
    """
    space = np.sort(g[free])
    x, y = np.round(np.clip(shares, 0, 1) * (np.array(g.shape) - 1)).astype(int).T
    ranks = sum(np.searchsorted(space, g[x, y], side) for side in ("left", "right"))
    return float(np.mean(ranks) / 2 / len(space))


def _walls(
    shape: tuple[int, ...], low: np.ndarray, high: np.ndarray, landmarks: Iterable[Landmark]
) -> np.ndarray:
    """Which points of the grid lie in a wall, and not in a hole of it."""
    axes = [np.linspace(*ends) for ends in zip(low, high, shape, strict=True)]
    x, y = np.meshgrid(*axes, indexing="ij")
    inside = np.zeros(shape, bool)
    for kind, (x0, y0), (x1, y1) in landmarks:
        inside[(x > x0) & (x < x1) & (y > y0) & (y < y1)] = kind == "wall"
    return inside


def _policy(actions: np.ndarray) -> Json | str:
    """Numbered actions by their numbers; of continuous ones the first, in levels."""
    if actions.dtype.kind in "iu":
        return packed(actions.T.astype(np.uint8))
    return _levels(actions.reshape(*actions.shape[:2], -1)[:, :, 0])


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
    return {"size": list(surface.shape), "ends": [least, greatest], "data": packed(levels.T)}


def _places(states: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """States as pairs of 16-bit shares of the way from bound to bound."""
    shares = (states - low) / (high - low)
    return packed(np.round(np.clip(shares, 0, 1) * 65535).astype("<u2"))
