"""One snapshot of one seed, packed for the report's explorer."""

import base64
from collections.abc import Iterable

import numpy as np

from freqdyna.envs.picture import Landmark
from freqdyna.report.section import Json

STATES = 500
"""The number of states shown from the replay buffer and from the queue."""
RANGE = 1e6
"""The ratio between the largest and the smallest value of g that is shown."""


def frame(snapshot: dict[str, np.ndarray], row: int, landmarks: Iterable[Landmark]) -> Json:
    """Surfaces, states and climbs of one seed, and the percentiles of g of the states.

    Args:
        snapshot: The arrays of a snapshot, with the seeds as first axis.
        row: The index of the seed.
        landmarks: The landmarks of the environment.

    """
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
        if count and "climb_states" in snapshot:  # there are no searches before that
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
    """The bytes of an array, encoded as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _percentile(g: np.ndarray, free: np.ndarray, shares: np.ndarray) -> float:
    """The mean percentile of g over states.

    The percentile of a state is the fraction of the free space where g is smaller. The mean is 0.5
    for states that are uniform over the free space.

    Args:
        g: Values on a grid between the bounds.
        free: Which points of the grid are outside walls.
        shares: States scaled to [0, 1], shape (states, 2); g is that of the nearest grid point.

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
        return packed(actions.T.astype(np.uint8))
    return _levels(actions.reshape(*actions.shape[:2], -1)[:, :, 0])


def _climbs(snapshot: dict[str, np.ndarray], row: int) -> list[tuple[int, np.ndarray]]:
    """The rule and the path of each climb; a path has shape (iterations, 2)."""
    found = []
    arrays = (snapshot[f"climb_{what}"][row] for what in ("states", "numbers", "rules"))
    for states, numbers, rules in zip(*arrays, strict=True):
        for number in range(int(numbers.max()) + 1):
            own = numbers == number
            if own.sum() > 1:
                found.append((int(rules[own][0]), states[own]))
    return found


def _levels(surface: np.ndarray) -> Json:
    """A surface in 256 levels between its minimum and maximum; x varies fastest."""
    least, greatest = float(surface.min()), float(surface.max())
    span = max(greatest - least, 1e-9)
    levels = np.round((surface - least) / span * 255).astype(np.uint8)
    return {"size": list(surface.shape), "ends": [least, greatest], "data": packed(levels.T)}


def _places(states: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """States scaled to the bounds, as pairs of 16-bit integers."""
    shares = (states - low) / (high - low)
    return packed(np.round(np.clip(shares, 0, 1) * 65535).astype("<u2"))
