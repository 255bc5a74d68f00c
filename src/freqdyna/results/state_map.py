"""Maps of two-dimensional state spaces."""

from collections.abc import Sequence

from freqdyna.envs import Environment
from freqdyna.envs.picture import COLORS
from freqdyna.results.chart import Axis, Box, Mark, Panel


def map_panel(
    env: Environment,
    title: str,
    marks: Sequence[Mark] = (),
    title_size: float = 12.0,
    filled: bool = True,
) -> Panel:
    """A map of an environment's two-dimensional state space with its landmarks.

    Args:
        env: The environment.
        title: The panel's title.
        marks: What is drawn on the map.
        title_size: The size of the title, in points.
        filled: Whether landmarks are filled and below the marks; otherwise they are above the marks
            and, except for walls, outlined.

    """
    order = -1 if rows_first(env) else 1
    margin = 0.5 if rows_first(env) else 0.0  # a cell extends by half a unit around its state
    (x0, y0), (x1, y1) = (env.low - margin)[::order], (env.high + margin)[::order]
    if rows_first(env):
        y0, y1 = y1, y0
    boxes = []
    for kind, low, high in env.landmarks:
        (left, bottom), (right, top) = low[::order], high[::order]
        color = "#{:02x}{:02x}{:02x}".format(*COLORS[kind])
        solid = filled or kind == "wall"
        inside, edge = (color, None) if solid else (None, color)
        boxes.append(Box((left, right), (bottom, top), inside, edge=edge, above=not filled))
    x_name, y_name = env.coordinates[::order]
    return Panel(
        title=title,
        x=Axis(x_name, low=float(x0), high=float(x1)),
        y=Axis(y_name, low=float(y0), high=float(y1)),
        marks=marks,
        boxes=boxes,
        title_size=title_size,
        is_map=True,
    )


def rows_first(env: Environment) -> bool:
    """Whether the state is (row, column), which is drawn with rows from top to bottom."""
    return env.coordinates[0] == "row"
