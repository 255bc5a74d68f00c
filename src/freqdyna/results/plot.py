"""Learning curves: mean and interval over seeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from freqdyna.results.record import Record
from freqdyna.results.run_styles import run_labels, run_styles
from freqdyna.results.seed_curve import draw_curve
from freqdyna.results.statistics import bootstrap_interval, complete_seeds, seeds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curves(results: Sequence[Record]) -> Figure:
    """Evaluation return against environment steps, one panel an environment."""
    names = list(dict.fromkeys(result.config.env for result in results))
    figure = Figure(figsize=(6.4 * len(names), 4.4), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    labels = run_labels([result.config for result in results])
    styles = run_styles([result.config for result in results])
    for panel, name in zip(panels, names, strict=True):
        for result, label, style in zip(results, labels, styles, strict=True):
            if result.config.env == name:
                _draw(panel, result, label, style)
        panel.set_title(name, parse_math=False)
        panel.set_xlabel("environment steps")
        panel.set_ylabel("evaluation return (mean over seeds, 95% interval)")
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False)
    return figure


def _draw(panel: "Axes", result: Record, label: str, style: dict[str, Any]) -> None:
    kept = complete_seeds(result.returns)
    returns = result.returns[kept]
    text = f"{label} ({seeds_text(kept)} seed{'s' if len(kept) > 1 else ''})"
    if not kept.any():  # a name in the legend is all there is to show
        panel.plot([], [], label=text, **style)
        return
    interval = bootstrap_interval(returns) if len(returns) > 1 else None
    seeds = result.seeds[kept]
    draw_curve(panel, result.steps, returns, interval, 0.2, seeds, label=text, **style)
