"""Maps of state spaces: of their first two coordinates, if there are more."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np

from freqdyna.envs.picture import COLORS
from freqdyna.envs.space import Space
from freqdyna.results.chart import Area, Axis, Box, Line, LineStyle, Mark, Panel


class RecordedSpace(Space):
    """The state space of an environment that is not built in, as far as a snapshot describes it."""

    label: str = eqx.field(static=True)
    bounds: np.ndarray
    """The lower and the upper bounds, shape (2, n); not finite where they are not known."""

    @property
    def name(self) -> str:
        """The name of the environment."""
        return self.label

    @property
    def low(self) -> np.ndarray:
        """The lower bounds, shape (n,)."""
        return self.bounds[0]

    @property
    def high(self) -> np.ndarray:
        """The upper bounds, shape (n,)."""
        return self.bounds[1]

    @property
    def num_actions(self) -> int:
        """Snapshots do not describe the actions."""
        return 0


def map_panel(
    env: Space,
    title: str,
    marks: Sequence[Mark] = (),
    title_size: float = 12.0,
    filled: bool = True,
) -> Panel:
    """A map of the first two coordinates of an environment with its landmarks.

    Args:
        env: The environment, or only its space.
        title: The panel's title.
        marks: What is drawn on the map.
        title_size: The size of the title, in points.
        filled: Whether landmarks are filled and below the marks; otherwise they are above the marks
            and, except for walls, outlined.

    """
    order = -1 if rows_first(env) else 1
    margin = 0.5 if rows_first(env) else 0.0  # a cell extends by half a unit around its state
    (x0, y0), (x1, y1) = (env.low[:2] - margin)[::order], (env.high[:2] + margin)[::order]
    if rows_first(env):
        y0, y1 = y1, y0
    boxes, areas, outlines = [], [], []
    for landmark in env.landmarks:
        (left, bottom), (right, top) = landmark.low[::order], landmark.high[::order]
        color = "#{:02x}{:02x}{:02x}".format(*COLORS[landmark.kind])
        solid = filled or landmark.kind == "wall"
        if landmark.profile and solid:
            x, below, above = np.array(landmark.profile).T
            areas.append(Area(x, below, above, color, opacity=1.0))
        elif landmark.profile:
            corners = landmark.outline()
            x, y = np.array([*corners, corners[0]]).T
            outlines.append(Line(x, y, LineStyle(color)))
        else:
            inside, edge = (color, None) if solid else (None, color)
            boxes.append(Box((left, right), (bottom, top), inside, edge=edge, above=not filled))
    x_name, y_name = env.coordinates[::order]
    return Panel(
        title=title,
        x=Axis(x_name, low=_known(x0), high=_known(x1)),
        y=Axis(y_name, low=_known(y0), high=_known(y1)),
        marks=[*areas, *marks, *outlines],
        boxes=boxes,
        title_size=title_size,
        is_map=True,
    )


def _known(bound: np.floating) -> float | None:
    """The bound, or None if there is none."""
    return float(bound) if np.isfinite(bound) else None


def rows_first(env: Space) -> bool:
    """Whether the state is (row, column), which is drawn with rows from top to bottom."""
    return env.coordinates[0] == "row"
