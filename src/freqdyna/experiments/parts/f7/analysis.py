"""The evaluation of F7: whether search by frequency finds a better policy than NAF alone."""

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.comparisons import Comparison, judge
from freqdyna.experiments.learning_curves import SHADED, environment_panels
from freqdyna.experiments.parts.f7.units import by_name
from freqdyna.experiments.stored_trainings import area, final, training_of
from freqdyna.experiments.summary import summary
from freqdyna.results.chart import Chart

THRESHOLD = 500.0


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each task; DynaNAF-Frequency compared with the others."""
    found = by_name(units)
    tasks = list(dict.fromkeys(env for env, _ in found))
    seeds = len(training_of(next(iter(found.values()))).seeds)
    panels = environment_panels(found, updates=5)
    chart = Chart(panels, f"F7: continuous control, {seeds} seeds", SHADED)
    claims = judge(
        [
            Comparison.of(
                f"{task}: DynaNAF-Frequency − {other}, {what}",
                "above 0" if other == "NAF" else "-",
                measure,
                found[task, "DynaNAF-Frequency"],
                found[task, other],
            )
            for task in tasks
            for other in ("NAF", "DynaNAF-Value")
            for what, measure in (("final return", final), ("area", area))
        ]
    )
    table = summary({f"{name}, {env}": s for (env, name), s in found.items()}, THRESHOLD)
    note = (
        "The paper states neither the number of steps nor the bounds of the state space. We use "
        "50,000 steps of 10 seeds, which is what we could afford, and the bounds of the visited "
        "states. The model is learned."
    )
    return Findings(chart, claims, table, (note,))
