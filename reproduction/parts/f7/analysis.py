"""The evaluation of F7: whether search by frequency finds a better policy than NAF alone."""

from freqdyna.results.chart import Chart
from reproduction.base import Findings, Stored
from reproduction.comparisons import Comparison, judge
from reproduction.learning_curves import SHADED, environment_panels
from reproduction.parts.f7.units import by_name
from reproduction.stored_trainings import area, final, machines, training_of
from reproduction.summary import summary

THRESHOLD = 500.0
OURS = "DynaNAF-Frequency"


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each task; DynaNAF-Frequency compared with the others."""
    found = by_name(units)
    tasks = list(dict.fromkeys(env for env, _ in found))
    seeds = len(training_of(next(iter(found.values()))).seeds)
    panels = environment_panels(found, updates=5)
    chart = Chart(panels, f"F7: continuous control, {seeds} seeds", SHADED)
    pairs = [(task, other) for task in tasks for other in ("NAF", "DynaNAF-Value")]
    apart = [pair for pair in pairs if len(machines(found[pair[0], OURS], found[pair])) > 1]
    claims = judge(
        [
            Comparison.of(
                f"{task}: {OURS} − {other}, {what}",
                "above 0" if other == "NAF" else "-",
                measure,
                found[task, OURS],
                found[task, other],
            )
            for task, other in pairs
            if (task, other) not in apart
            for what, measure in (("final return", final), ("area", area))
        ]
    )
    table = summary({f"{name}, {env}": s for (env, name), s in found.items()}, THRESHOLD)
    note = (
        "The paper states neither the number of steps nor the bounds of the state space. We use "
        "50,000 steps of 10 seeds, which is what we could afford, and the bounds of the visited "
        "states. The model is learned."
    )
    notes = [note]
    if apart:
        named = "; ".join(f"{task}, {OURS} − {other}" for task, other in apart)
        notes.append(f"Not compared, because of different kinds of machines: {named}.")
    return Findings(chart, claims, table, notes)
