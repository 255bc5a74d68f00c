"""Learning curves in the charts of experiments: their colours, intervals and panels."""

from collections.abc import Mapping

import numpy as np

from freqdyna.results.chart import Axis, Legend, LineStyle, Panel, SeedCurve
from freqdyna.results.statistics import bootstrap_interval
from reproduction.base import Stored
from reproduction.stored_trainings import curves, left_out

COLORS = {
    "ER": "forestgreen",
    "PrioritizedER": "blue",
    "Dyna-Value": "red",
    "Dyna-Frequency": "black",
    "Dyna-GradNorm": "darkorange",
    "Dyna-HessNorm": "mediumvioletred",
    "Dyna-V+g": "teal",
    "Dyna-V·g": "purple",
    "Dyna-Replay": "saddlebrown",
    "NAF": "forestgreen",
    "DynaNAF-Value": "red",
    "DynaNAF-Frequency": "black",
}
"""The paper's colours of algorithms, and our own where its captions name none."""
SHADED = "shaded: 95% interval of the mean"
SMALL = 8.33
"""Size of a legend's text that leaves room for the curves."""


def learning_curve(steps: np.ndarray, returns: np.ndarray, name: str) -> SeedCurve:
    """Mean return over seeds with its 95% interval, in the paper's colours.

    Args:
        steps: Where seeds were evaluated, shape (evaluations,).
        returns: Shape (seeds, evaluations).
        name: In the legend; it begins with one of `COLORS`.

    """
    color = next((c for known, c in COLORS.items() if name.startswith(known)), "purple")
    style = LineStyle(color, "dashed" if "learned model" in name else "solid")
    return SeedCurve(steps, returns, style, bootstrap_interval(returns), shade=0.15, label=name)


def named_curves(found: Mapping[str, Stored]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and returns of trainings by name; the name also says which seeds are left out."""
    labels = {name: left_out(stored) for name, stored in found.items()}
    return {
        f"{name} ({labels[name]})" if labels[name] else name: curves(stored)
        for name, stored in found.items()
    }


def curves_panel(
    title: str,
    found: Mapping[str, tuple[np.ndarray, np.ndarray]],
    x: str = "environment steps",
    legend: Legend | None = None,
) -> Panel:
    """A panel of learning curves.

    Args:
        title: The panel's title.
        found: Steps of shape (evaluations,) and returns of shape (seeds, evaluations) by name.
        x: What the steps are.
        legend: The panel's legend, if it has one.

    """
    return Panel(
        title=title,
        x=Axis(x, si_prefixes=True),
        y=Axis("return"),
        marks=[learning_curve(*pair, name) for name, pair in found.items()],
        legend=legend,
    )


def environment_panels(found: Mapping[tuple[str, str], Stored], updates: int) -> list[Panel]:
    """A panel of learning curves for each environment.

    Args:
        found: Trainings by environment and algorithm.
        updates: Planning updates of each step, for the titles.

    """
    environments = list(dict.fromkeys(env for env, _ in found))
    return [
        curves_panel(
            f"{env}, {updates} updates",
            named_curves({name: one for (where, name), one in found.items() if where == env}),
            legend=Legend() if env == environments[0] else None,
        )
        for env in environments
    ]
