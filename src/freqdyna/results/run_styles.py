"""Names, colours and dashes of runs in charts, so that all runs can be distinguished."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from freqdyna.config import Config
from freqdyna.envs.names import env_label
from freqdyna.results.chart import Dash, LineStyle
from freqdyna.results.record import INIT_FROM, Record

# The paper's colours; an algorithm that is not in the paper gets the next free colour.
COLORS = {
    "er": "forestgreen",
    "prioritized-er": "blue",
    "dyna-value": "red",
    "dyna-frequency": "black",
    "dyna-gradnorm": "blue",
    "dyna-hessnorm": "magenta",
}
FEW = 10
"""At most this many runs each have their own colour; otherwise similar runs share a colour."""
FREE = ("orange", "purple", "cyan", "brown", "olive", "pink", "gray", "blue", "green", "red")
"""Colours of Matplotlib's palette for further runs; those similar to the paper's come last."""
STORE_COLORS = {"replay": "#555555", "queue": "#dd0000"}
"""The states in the replay buffer and in the search-control queue, on maps."""
ACTION_COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""The actions of a policy on a map."""
CLIMB_COLORS = {"value": "#0077ff", "other": "#e000c0"}
"""Climbs on V, and on anything else, on maps."""
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted", "dashdot")


def run_labels(configs: list[Config]) -> list[str]:
    """The name of the agent, and the settings in which runs of the same agent differ."""
    labels = []
    for config in configs:
        telling = _telling(config, configs)
        extra = ", ".join(f"{n.replace('_', ' ')} {setting_text(config.get(n))}" for n in telling)
        name = config.agent_name
        labels.append(f"{name}, {extra}" if extra else name)
    return labels


def setting_text(value: Any) -> str:
    """The value of a setting for readers: numbers have four digits, lists have spaces."""
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    return " ".join(map(str, value)) or "none" if isinstance(value, tuple | list) else str(value)


def differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the settings that not all runs have with the same value."""
    names = dict.fromkeys(name for of_run in settings for name in of_run)
    return [name for name in names if len({repr(of_run.get(name)) for of_run in settings}) > 1]


def record_labels(records: Sequence[Record], sources: Sequence[str] | None = None) -> list[str]:
    """The same for runs, with what their settings do not say; those in an environment all differ.

    Args:
        records: The runs.
        sources: Where each of them is stored, which is added where labels do not tell runs apart;
            None to add numbers.

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


def run_colors(algorithms: list[str], labels: list[str]) -> list[str]:
    """The paper's colour for the first label of an algorithm, a free colour for further labels."""
    free = cycle(FREE)
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    for algorithm, label in zip(algorithms, labels, strict=True):
        if label not in chosen:
            color = COLORS.get(algorithm)
            if color is None or color in taken:
                color = to_hex(f"tab:{next(free)}")
            taken.add(color)
            chosen[label] = color
    return [chosen[label] for label in labels]


def run_styles(configs: list[Config], labels: list[str] | None = None) -> list[LineStyle]:
    """The line style of each run; only runs with the same label have the same style.

    If there are many runs, they share a colour by algorithm, or by the first setting that varies if
    there is only one algorithm; they differ in dashes and shades.

    Args:
        configs: The settings of the runs.
        labels: Their names; None for those of `run_labels`.

    """
    labels = run_labels(configs) if labels is None else labels
    algorithms = [config.agent_name for config in configs]
    if len(set(labels)) <= FEW:
        return [LineStyle(color) for color in run_colors(algorithms, labels)]
    kinds = algorithms if len(set(algorithms)) > 1 else [_kind(c, configs) for c in configs]
    color_of = dict(zip(labels, run_colors(algorithms, kinds), strict=True))
    styles = {}
    for color in set(color_of.values()):
        alike = [label for label, own in color_of.items() if own == color]
        shades = -(-len(alike) // len(DASHES))
        for place, label in enumerate(alike):
            shade = 0.8 * (place // len(DASHES)) / shades
            r, g, b = (v + (1 - v) * shade for v in to_rgb(color))
            styles[label] = LineStyle(to_hex((r, g, b)), DASHES[place % len(DASHES)])
    return [styles[label] for label in labels]


def _kind(config: Config, configs: list[Config]) -> str:
    return str([config.get(name) for name in _telling(config, configs)[:1]])


def _telling(config: Config, configs: Iterable[Config]) -> list[str]:
    """The settings in which runs of the same algorithm and environment differ."""
    ignored = ("algorithm", "search_control", "env", "seeds", "devices", "snapshot_steps")
    named = config.agent_name, env_label(config)
    alike = [c for c in configs if (c.agent_name, env_label(c)) == named]
    names = dict.fromkeys(name for c in alike for name in c.flat() if name not in ignored)
    return [name for name in names if len({c.get(name) for c in alike}) > 1]
