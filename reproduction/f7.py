"""F7: continuous control with NAF on Hopper and Walker2d."""

from typing import Any

from freqdyna.results.chart import Chart
from reproduction import study
from reproduction.claims import Statement
from reproduction.comparisons import Comparison, judge, summary
from reproduction.curves import SHADED, curves_panels
from reproduction.study import Findings, Part, Stored, Unit, area, training

AHEAD = {
    "NAF": Statement("Hopper, Walker2d: DynaNAF-Frequency is ahead of NAF", main=True),
    "DynaNAF-Value": Statement("Hopper, Walker2d: DynaNAF-Frequency is ahead of DynaNAF-Value"),
}
ENVIRONMENTS = ("Hopper-v5", "Walker2d-v5")
"""The current versions; the paper uses Hopper-v2 and Walker2d-v2."""
OURS = "DynaNAF-Frequency"
ALGORITHMS = {"NAF": "naf", "DynaNAF-Value": "dyna-naf-value", OURS: "dyna-naf-frequency"}
SEEDS, STEPS = 10, 50_000
"""The paper's number of seeds; as many steps as we could afford (the paper states no number)."""
UPDATES = 5
"""Planning updates of each step, as in the paper."""
THRESHOLD = 500.0


def settings(env: str, name: str) -> dict[str, Any]:
    """One curve of the figure."""
    return {"env": env, "algorithm": ALGORITHMS[name], "planning_steps": UPDATES}


def units(quick: bool) -> list[Unit]:
    """All curves; a quick run has those of one task."""
    return [
        training(quick, seeds=SEEDS, steps=STEPS, **settings(env, name))
        for env in (ENVIRONMENTS[:1] if quick else ENVIRONMENTS)
        for name in ALGORITHMS
    ]


def analyse(units: dict[str, Stored]) -> Findings:
    """A panel for each task; DynaNAF-Frequency compared with the others."""
    runs = study.grouped(units, ENVIRONMENTS, ALGORITHMS, settings)
    panels = curves_panels({f"{env}, {UPDATES} updates": of for env, of in runs.items()})
    seeds = len(study.training_of(runs[ENVIRONMENTS[0]][OURS]).seeds)
    chart = Chart(panels, f"F7: continuous control, {seeds} seeds, {SHADED}")
    pairs = [(env, other) for env in runs for other in AHEAD]
    apart = [
        (env, other)
        for env, other in pairs
        if len({runs[env][name].provenance["device_kind"] for name in (OURS, other)}) > 1
    ]
    compared = []
    for env, other in pairs:
        paper, both = ("above 0" if other == "NAF" else "-", (runs[env][OURS], runs[env][other]))
        for word, measure in (("final return", study.final), ("area", area)):
            what = f"{env}: {OURS} − {other}, {word}"
            if (env, other) not in apart:
                compared.append(Comparison.of(AHEAD[other], what, paper, measure, *both))
    every = {f"{name}, {env}": one for env, of in runs.items() for name, one in of.items()}
    notes = [
        "The paper states neither the number of steps nor the bounds of the state space. We use "
        "50,000 steps of 10 seeds, which is what we could afford, and the bounds of the visited "
        "states. The model is learned."
    ]
    notes += [
        f"Not compared, because of different kinds of machines: {env}, {OURS} − {other}."
        for env, other in apart
    ]
    return Findings(chart, judge(compared), summary(every, THRESHOLD), notes)


PART = Part("F7", "NAF and DynaNAF-Frequency on Hopper and Walker2d", "two hours", units, analyse)
