"""A chart as data, and the names, colours and dashes of runs in charts.

Nothing is drawn here. `freqdyna.results.draw.draw` converts a chart to a Matplotlib figure, and
`freqdyna.report.charts.as_json` to what the report's page draws with Plotly.

Texts are plain Unicode, never TeX. Colours are any that Matplotlib accepts: names, "#rrggbb" or
a grey such as "0.5". Lengths are in points, as in Matplotlib.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from typing import Any, Literal

import numpy as np
from matplotlib.colors import to_hex

from freqdyna.config import Config
from freqdyna.core.plugins import module_of
from freqdyna.envs.names import env_label
from freqdyna.results.record import INIT_FROM, Record

Dash = Literal["solid", "dashed", "dotted", "dashdot", "none"]
Marker = Literal["", "circle", "square", "diamond", "triangle-up", "triangle-down", "cross"]
Interval = tuple[np.ndarray, np.ndarray]
"""Lower and upper ends, each of shape (points,)."""


@dataclass(frozen=True)
class LineStyle:
    """The colour and dashes of a line."""

    color: str
    dash: Dash = "solid"


@dataclass(frozen=True, kw_only=True)
class Named:
    """What a legend can name."""

    label: str = ""
    """The text in the legend, and on the toggle of the report's page; empty for neither."""


@dataclass(frozen=True)
class SeedCurve(Named):
    """A curve for each seed, drawn as their mean with an interval."""

    x: np.ndarray
    """Shape (points,)."""
    values: np.ndarray
    """Shape (seeds, points)."""
    style: LineStyle
    interval: Interval | None = None
    """The interval of the mean, for static figures; the page computes it for the chosen seeds."""
    seeds: np.ndarray | None = None
    """The seeds, shape (seeds,); None for 0, 1, 2, ..."""
    marker: Marker = ""

    @property
    def mean(self) -> np.ndarray:
        """The mean over seeds, shape (points,)."""
        return np.asarray(self.values.mean(axis=0))


@dataclass(frozen=True)
class Line(Named):
    """Points connected by a line, or with markers, or both; without points only for the legend."""

    x: np.ndarray
    y: np.ndarray
    """Shape (points,), as `x`. Points that are not finite leave a gap."""
    style: LineStyle
    width: float = 1.5
    marker: Marker = ""
    marker_size: float = 7.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Area(Named):
    """The area between two curves."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    """Shape (points,), as `x` and `low`."""
    color: str
    opacity: float = 0.2


@dataclass(frozen=True)
class Mesh(Named):
    """A function on a grid, shown by colours with a colour bar."""

    x: np.ndarray
    """Centres of the columns, shape (columns,)."""
    y: np.ndarray
    """Centres of the rows, shape (rows,)."""
    values: np.ndarray
    """Shape (rows, columns)."""
    ends: tuple[float, float]
    """The values of the first and the last colour."""
    log: bool = False
    """Whether colours are spaced by the logarithm of the values."""
    bar_label: str = ""


Mark = SeedCurve | Line | Area | Mesh


def dots(x: np.ndarray, y: np.ndarray, color: str, label: str = "") -> Line:
    """Many small points, such as visited states; both coordinates have shape (points,)."""
    style = LineStyle(color, "none")
    return Line(x, y, style, marker="circle", marker_size=1.7, opacity=0.7, label=label)


@dataclass(frozen=True)
class Axis:
    """One axis of a panel."""

    label: str = ""
    log: bool = False
    low: float | None = None
    """The lower limit; None for slightly below everything that is drawn. May be above `high`."""
    high: float | None = None
    """The upper limit; None for slightly above everything that is drawn."""
    ticks: Sequence[tuple[float, str]] = ()
    """Positions and texts of ticks; if empty, the renderer chooses them."""


@dataclass(frozen=True)
class Legend:
    """The position and the look of a panel's legend in static figures."""

    place: Literal["best", "upper right", "lower right", "below", "below row"] = "best"
    """"below" is below all panels of the chart, "below row" below those of its row."""
    size: float = 10.0
    """The size of the text."""
    columns: int = 1


@dataclass(frozen=True)
class Panel:
    """A pair of axes and its content."""

    title: str = ""
    x: Axis = Axis()
    y: Axis = Axis()
    marks: Sequence[Mark] = ()
    """What is drawn; lines are above areas and meshes, otherwise later marks above earlier ones."""
    legend: Legend | None = None
    """None for no legend. The report's page has toggles for all series instead."""
    title_size: float = 12.0
    is_map: bool = False
    """Whether it is a map of a state space: with a frame on all sides and without a grid."""


@dataclass(frozen=True)
class Chart:
    """A title and panels on a grid."""

    panels: Sequence[Panel]
    """Row by row; they must fill the grid."""
    title: str = ""
    columns: int | None = None
    """Panels per row; None for all of them."""
    panel_size: tuple[float, float] = (5.0, 4.0)
    """Width and height of a panel in inches, in static figures."""
    share_y: bool = False
    """Whether all panels have the same y axis."""


# The paper's colours; an algorithm that is not in the paper gets the next free colour.
COLORS = {
    "er": "forestgreen",
    "prioritized-er": "blue",
    "dyna-value": "red",
    "dyna-frequency": "black",
    "dyna-gradnorm": "blue",
    "dyna-hessnorm": "magenta",
}
FREE = ("orange", "purple", "cyan", "brown", "olive", "pink", "gray", "blue", "green", "red")
"""Colours of Matplotlib's palette for further runs; those similar to the paper's come last."""
STORE_COLORS = {"replay": "#555555", "queue": "#dd0000"}
"""The states in the replay buffer and in the search-control queue, on maps."""
ACTION_COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""The actions of a policy on a map."""
CLIMB_COLORS = {"value": "#0077ff", "other": "#e000c0"}
"""Climbs on V, and on anything else, on maps."""
KNOWN = {"model.termination": "termination", "model.state_space": "state space"}
"""What a learned model may be told by the environment; labels say so."""
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted", "dashdot")
UNNAMED = {"algorithm", "search_control", "env", "seeds", "devices", "snapshot_steps"}
"""Settings that the labels of runs do not name."""


def run_labels(configs: list[Config]) -> list[str]:
    """The agent, the settings in which its runs differ, and what its learned model was told."""
    named = [((agent_label(config), env_label(config)), config.flat()) for config in configs]
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, settings in named:
        alike.setdefault(name, []).append(settings)
    varied = {name: set(differing(of)) - UNNAMED - KNOWN.keys() for name, of in alike.items()}
    labels = []
    for name, settings in named:
        texts = [
            f"{setting_name(n)} {setting_text(settings[n])}" for n in settings if n in varied[name]
        ]
        known = " and ".join(text for n, text in KNOWN.items() if settings.get(n) == "known")
        labels.append(", ".join([name[0], *texts, *([f"known {known}"] if known else [])]))
    return labels


def agent_label(config: Config) -> str:
    """The name of the agent, with its model if that is the true one or the user's own."""
    if config.model == "true":
        return f"{config.agent_name}, true model"
    if module_of(config.model) is None:
        return config.agent_name
    return f"{config.agent_name}, model {config.model}"


def setting_name(name: str) -> str:
    """The name of a setting for readers, such as "learning rate" or "model learning rate"."""
    return name.removeprefix("learner.").replace(".", " ").replace("_", " ")


def setting_text(value: Any) -> str:
    """The value of a setting for readers: numbers have four digits, lists have spaces."""
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    return " ".join(map(str, value)) or "none" if isinstance(value, tuple | list) else str(value)


def differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the settings with more than one value among the runs that have them."""
    values: dict[str, set[str]] = {}
    for name, value in chain.from_iterable(of_run.items() for of_run in settings):
        values.setdefault(name, set()).add(repr(value))
    return [name for name, of in values.items() if len(of) > 1]


def record_labels(records: Sequence[Record], sources: Sequence[str] | None = None) -> list[str]:
    """The same for runs, with what their settings do not say; those in an environment all differ.

    Where labels do not tell runs apart, `sources` (where they are stored) are added, or numbers.
    """
    labels = [
        f"{label}, from trained parameters" if INIT_FROM in record.provenance else label
        for label, record in zip(run_labels([r.config for r in records]), records, strict=True)
    ]
    keys = [(record.env_name, label) for record, label in zip(records, labels, strict=True)]
    numbers = [str(keys[: i + 1].count(key)) for i, key in enumerate(keys)]
    return [
        f"{label} ({source})" if keys.count(key) > 1 else label
        for key, label, source in zip(keys, labels, sources or numbers, strict=True)
    ]


def run_styles(configs: list[Config], labels: list[str]) -> list[LineStyle]:
    """The paper's colour for the first label of an algorithm, a free colour for further labels.

    Of many runs, some share a colour and differ in their dashes.
    """
    styles: dict[str, LineStyle] = {}
    free, used = cycle(FREE), Counter[str]()
    for config, label in zip(configs, labels, strict=True):
        if label not in styles:
            color = COLORS.get(config.agent_name)
            if color is None or color in used:
                color = to_hex(f"tab:{next(free)}")
            styles[label] = LineStyle(color, DASHES[used[color] % len(DASHES)])
            used[color] += 1
    return [styles[label] for label in labels]
