"""The evaluation of C: tables, the hypotheses, the recommendation, and the defaults."""

from freqdyna.experiments.base import Findings, Stored
from freqdyna.experiments.parts.controls import defaults, tuning
from freqdyna.experiments.parts.controls.cells import Study, study
from freqdyna.experiments.parts.controls.charts import chart
from freqdyna.experiments.parts.controls.hypotheses import GAIN, HYPOTHESES, RECOMMENDED
from freqdyna.experiments.parts.controls.tables import tables
from freqdyna.experiments.parts.controls.units import stages
from freqdyna.experiments.parts.controls.verdicts import claims


def analyse(units: dict[str, Stored]) -> Findings:
    """Analyse whatever is stored of the study."""
    found = study(units)
    first, *others = tables(found) or [[]]
    return Findings(chart(found), claims(found), first, _notes(units, found), others)


def _notes(units: dict[str, Stored], found: Study) -> list[str]:
    chosen = "; ".join(
        f"{control}: {', '.join(f'{name} = {value}' for name, value in own.items())}"
        for control, own in tuning.CHOSEN.items()
    )
    rules = [f"{h.name}: {h.test}. It does not hold if {h.refuted_if}." for h in HYPOTHESES]
    stored = {
        stage: f"{sum(unit.name in units for unit in of)} of {len(of)} trainings"
        if of
        else "not chosen yet"
        for stage, of in stages().items()
    }
    return [
        f"Stored: {'; '.join(f'{stage}: {number}' for stage, number in stored.items())}. Reward "
        "noise with the ensemble is not part of the design. Not trained in any cell: mixture, "
        "bandit, disagreement and parallel-value. With the ensemble: only the five best of stage "
        "1. On TubeGridWorld-n: only six agents, the true model and no scaled observations. Times "
        "of a step: only with the true model.",
        "The hypotheses, the rule of the recommendation and its goals were written before all "
        "trainings of C, the rule and the goals of the defaults before those of stages 5 and 6, "
        "all of them after two exploratory looks, one at most of the search-controls in five of "
        "the domains and one at scaled observations and the model's learning rate on Acrobot-v1. "
        "Between the rules and the first training, the start of areas was changed from step 3,000 "
        "to the end of the warm-up; the verdicts on the first three goals are the same with both. "
        "Comparisons are corrected for those of the same hypothesis.",
        *rules,
        f"The recommended search-control: {RECOMMENDED}.",
        f"Gain: {GAIN}.",
        f"Tuning: {tuning.RULE}. "
        + (f"Chosen: {chosen}; the others keep their defaults." if chosen else "Not tuned yet."),
        f"The library's defaults: {defaults.RULE}. Chosen: "
        f"{found.chosen_defaults or 'not yet, because not all of these trainings are stored'}. "
        f"{defaults.NOT_PART}",
        "Microseconds per step are measured with 30 seeds at once, the true model and learning "
        "from the first step, soon after the start of a training (`freqdyna bench --controls`).",
    ]
