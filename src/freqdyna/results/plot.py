"""Learning curves: mean and interval over seeds."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from freqdyna.core.errors import FreqdynaError, one_line
from freqdyna.core.files import write_atomically
from freqdyna.results.chart import Axis, Chart, Legend, Line, LineStyle, Panel, SeedCurve
from freqdyna.results.draw_matplotlib import draw
from freqdyna.results.record import Record, return_name
from freqdyna.results.run_styles import record_labels, run_styles
from freqdyna.results.statistics import bootstrap_interval


def plot_curves(results: Sequence[Record], metric: str = "return") -> Figure:
    """Draw learning curves, see `curves_chart`."""
    return draw(curves_chart(results, metric))


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure, in the format of the file's ending; PNG if it has none.

    The file is replaced atomically: a link with its name is not followed, and a full disk leaves no
    part of it.
    """
    path = path if path.suffix else path.with_suffix(".png")
    file = io.BytesIO()
    try:
        figure.savefig(file, format=path.suffix[1:])
        write_atomically(path, lambda out: out.write(file.getvalue()))
    except RuntimeError as error:
        if path.suffix != ".pgf":
            raise
        raise FreqdynaError(
            f"out is {str(path)!r}, for which Matplotlib needs LaTeX ({one_line(error)}); choose "
            ".png, .pdf or .svg"
        ) from None
    except (OSError, ValueError) as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be written: {error}") from None


def curves_chart(results: Sequence[Record], metric: str = "return") -> Chart:
    """A metric against environment steps, one panel for each environment.

    Args:
        results: The runs.
        metric: The name of the metric, which every run must have.

    """
    for result in results:
        if metric not in result.metrics:
            raise FreqdynaError(
                f"metric is {metric!r}; it must be one that {result.config.agent_name} on "
                f"{result.env_name} has: {', '.join(result.metrics)}"
            )
    names = list(dict.fromkeys(result.env_name for result in results))
    configs = [result.config for result in results]
    labels = record_labels(results)
    styles = run_styles(configs, labels)
    panels = [
        Panel(
            title=name,
            x=Axis("environment steps", si_prefixes=True),
            y=Axis(
                return_name(results) if metric == "return" else metric,
                static_note="mean over seeds, 95% interval",
            ),
            marks=[
                _curve(result, metric, label, style)
                for result, label, style in zip(results, labels, styles, strict=True)
                if result.env_name == name
            ],
            legend=Legend(),
        )
        for name in names
    ]
    return Chart(panels, panel_size=(6.4, 4.4))


def _curve(result: Record, metric: str, label: str, style: LineStyle) -> SeedCurve | Line:
    complete = result.complete_seeds
    kept = complete.kept
    values = result.metrics[metric][kept]
    known = np.isfinite(values).all(axis=0)  # there is no loss during the warm-up, for example
    values = values[:, known]
    text = f"{label} ({complete.text('seeds')})"
    if not values.size:  # only the legend can be shown
        return Line(np.empty(0), np.empty(0), style, label=text)
    interval = bootstrap_interval(values) if len(values) > 1 else None
    return SeedCurve(result.steps[known], values, style, interval, result.seeds[kept], label=text)
