"""One snapshot of one seed, packed for the report's explorer."""

from collections.abc import Iterable

import numpy as np

from freqdyna.envs.picture import Landmark
from freqdyna.report.section import Json

STATES = 500
"""The number of states shown from the replay buffer and from the queue."""
POSITIONS = 512
"""The number of positions of states on each axis; the page draws a dot over six of them."""
RANGE = 1e6
"""The ratio between the largest and the smallest value of g that is shown."""
LEVELS = {"value": 256, "frequency": 128}
"""The number of levels of a surface. Those of g differ by less than 12%."""


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
            made["climbs"] = [
                {"rule": rule, "path": packed(_positions(path, low, high))}
                for rule, path in _climbs(snapshot, row)
            ]
    free = ~_walls(g.shape, low, high, landmarks)
    for name, states in stores.items():
        positions = _positions(states[:STATES], low, high)
        # Their order is not shown; sorted, most differences are small.
        made[name] = packed(positions[np.lexsort(positions.T[::-1])])
        if len(states):
            made["percentiles"][name] = round(
                _percentile(g, free, (states - low) / (high - low)), 3
            )
    return made


def packed(table: np.ndarray) -> str:
    """A table of integers as text that compresses well: one character for each number.

    A character stands for the difference from the number above it, which is small if the rows
    change slowly: 0, -1, 1, -2, ... are the characters from `#` on. The page decodes it.

    Args:
        table: Integers of at most 10,000, shape (rows, columns).

    """
    differences = np.diff(table.astype(int), axis=0, prepend=0).ravel()
    codes = np.where(differences < 0, -2 * differences - 1, 2 * differences)
    return "".join(map(chr, codes + ord("#")))


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
        return packed(actions.T)
    return _levels(actions.reshape(*actions.shape[:2], -1)[:, :, 0], LEVELS["value"])


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


def _levels(surface: np.ndarray, number: int) -> Json:
    """A surface in levels between its minimum and maximum; x varies fastest."""
    least, greatest = float(surface.min()), float(surface.max())
    span = max(greatest - least, 1e-9)
    levels = np.round((surface - least) / span * (number - 1))
    return {
        "size": list(surface.shape),
        "ends": [least, greatest],
        "levels": number,
        "data": packed(levels.T),
    }


def _positions(states: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The positions of states between the bounds, integers from 0 to `POSITIONS` - 1."""
    shares = (states - low) / (high - low)
    return np.round(np.clip(shares, 0, 1) * (POSITIONS - 1)).astype(int)
