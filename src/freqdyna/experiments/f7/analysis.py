"""What F7 shows: whether search by frequency finds a better policy than NAF alone."""

from freqdyna.experiments import drawing
from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.f7.sweep import by_name
from freqdyna.experiments.summary import summary
from freqdyna.experiments.trainings import area, curves, final

THRESHOLD = 500.0


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each task; final return and area of DynaNAF-Frequency against the others."""
    found = by_name(units)
    tasks = list(dict.fromkeys(env for env, _ in found))
    figure = drawing.panels(1, len(tasks))
    panels = figure.subplots(1, len(tasks), squeeze=False)[0]
    for panel, task in zip(panels, tasks, strict=True):
        for (env, name), stored in found.items():
            if env == task:
                drawing.learning_curve(panel, *curves(stored), name)
        drawing.finish(panel, f"{task}, 5 updates", "environment steps", "return")
    panels[0].legend(frameon=False)
    seeds = len(area(next(iter(found.values()))))
    figure.suptitle(f"F7: continuous control, {seeds} seeds, shaded: 95% interval of the mean")
    claims = judge(
        [
            Comparison(
                f"{task}: DynaNAF-Frequency − {other}, {what}",
                "above 0" if other == "NAF" else "-",
                measure(found[task, "DynaNAF-Frequency"]),
                measure(found[task, other]),
            )
            for task in tasks
            for other in ("NAF", "DynaNAF-Value")
            for what, measure in (("final return", final), ("area", area))
        ]
    )
    table = summary({f"{name}, {env}": s for (env, name), s in found.items()}, THRESHOLD)
    note = (
        "The paper gives neither steps nor bounds of the state space: here 50,000 steps, and the "
        "bounds of the visited states. The model is learned."
    )
    return Findings(figure, claims, table, (note,))
