"""Learning curves: mean and interval over seeds, one colour an algorithm."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from freqdyna.config import Config
from freqdyna.results.seed_curve import draw_curve
from freqdyna.results.statistics import bootstrap_interval, how_many, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from freqdyna.results.result import Result

# The paper's colours; an algorithm that is not in it takes the next free colour.
COLORS = {
    "er": "forestgreen",
    "prioritized-er": "blue",
    "dyna-value": "red",
    "dyna-frequency": "black",
    "dyna-gradnorm": "blue",
    "dyna-hessnorm": "magenta",
}


def plot_curves(results: Sequence["Result"]) -> Figure:
    """Evaluation return against environment steps, one panel an environment."""
    names = list(dict.fromkeys(result.config.env for result in results))
    figure = Figure(figsize=(6.4 * len(names), 4.4), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    labels = run_labels([result.config for result in results])
    colors = run_colors([result.config.algorithm for result in results], labels)
    for panel, name in zip(panels, names, strict=True):
        for result, label, color in zip(results, labels, colors, strict=True):
            if result.config.env == name:
                _draw(panel, result, label, color)
        panel.set_title(name)
        panel.set_xlabel("environment steps")
        panel.set_ylabel("evaluation return (mean over seeds, 95% interval)")
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False)
    return figure


def _draw(panel: "Axes", result: "Result", label: str, color: str) -> None:
    kept = whole(result.returns)
    returns = result.returns[kept]
    text = f"{label} ({how_many(kept)} seed{'s' if len(kept) > 1 else ''})"
    if not kept.any():  # a name in the legend is all there is to show
        panel.plot([], [], color=color, label=text)
        return
    interval = bootstrap_interval(returns) if len(returns) > 1 else None
    seeds = result.seeds[kept]
    draw_curve(panel, result.steps, returns, interval, 0.2, seeds, color=color, label=text)


def run_labels(configs: list[Config]) -> list[str]:
    """The algorithm's name, and whatever else tells runs of the same algorithm apart."""
    ignored = ("algorithm", "env", "seeds", "devices", "snapshot_steps")
    names = [name for name in Config.__dataclass_fields__ if name not in ignored]
    labels = []
    for config in configs:
        alike = [c for c in configs if (c.algorithm, c.env) == (config.algorithm, config.env)]
        telling = [n for n in names if len({getattr(c, n) for c in alike}) > 1]
        extra = ", ".join(f"{n.replace('_', ' ')} {getattr(config, n)}" for n in telling)
        name = config.algorithm
        if config.search_control is not None and "search_control" not in telling:
            name += f", search control {config.search_control}"
        labels.append(f"{name}, {extra}" if extra else name)
    return labels


def run_colors(algorithms: list[str], labels: list[str]) -> list[str]:
    """The paper's colour for the first label of an algorithm, a free one for each further label."""
    free = cycle(matplotlib.color_sequences["tab10"])
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    for algorithm, label in zip(algorithms, labels, strict=True):
        if label not in chosen:
            color = COLORS.get(algorithm)
            if color is None or color in taken:
                color = matplotlib.colors.to_hex(next(free))
            taken.add(color)
            chosen[label] = color
    return [chosen[label] for label in labels]
