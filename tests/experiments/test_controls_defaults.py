"""Stage 5 of the study of search-controls: candidates for defaults, and the rule that chooses."""

from collections import Counter

import numpy as np
import pytest
from made_up_study import level, made_up_units

from freqdyna.experiments import registry
from freqdyna.experiments.parts.controls import cells, defaults, units, verdicts
from freqdyna.experiments.parts.controls.defaults import PLACES, PRESENT, Effect, Place
from freqdyna.experiments.parts.controls.design import ER, Cell

SCALED, RATE, BOTH = (name for name in defaults.CANDIDATES if name != PRESENT)


def test_only_what_a_candidate_changes_is_trained():
    found = defaults.trainings()
    assert Counter((place.control, place.cell.model) for place, _ in found) == {
        (ER, "true"): 5,
        ("uniform", "true"): 5,
        ("uniform", "learned"): 16,
    }
    in_puddles = [(str(place), own) for place, own in found if place.cell.domain == "PuddleWorld"]
    assert in_puddles == [("uniform, PuddleWorld, learned model", {"model_learning_rate": 1e-3})]
    of_er = [own for place, own in found if place.control == ER]
    assert of_er == [{"scale_observations": True}] * 5
    changed = {name: sum(bool(defaults.changes(name, p)) for p in PLACES) for name in (RATE, BOTH)}
    assert changed == {RATE: 6, BOTH: 16}


def test_an_effect_is_averaged_over_all_cells_and_decided_in_those_that_change():
    noise = np.arange(12.0)  # standard deviation √13
    better, worse, same = PLACES[:3]
    pairs = {
        better: (noise + 9 * np.sqrt(13), noise),
        worse: (noise - 18 * np.sqrt(13), noise),
        same: (noise + 0.1 * np.sqrt(13), noise),
    }
    found = defaults.effect(pairs, is_stable=True)
    assert [found.sizes[place] for place in pairs] == pytest.approx([9, -18, 0.1])
    assert found.mean_size == pytest.approx(-8.9 / 18)
    assert (found.better, found.worse) == ({better}, {worse})


def an_effect(mean, better, worse, is_stable=True):
    """An effect with this mean, decidedly better and worse in so many cells."""
    groups = frozenset(PLACES[:better]), frozenset(PLACES[better : better + worse])
    return Effect({PLACES[0]: mean * len(PLACES)}, *groups, is_stable)


@pytest.mark.parametrize(
    ("effects", "chosen"),
    [
        ((an_effect(0.2, 3, 0), an_effect(0.1, 5, 0), an_effect(0.3, 2, 1)), BOTH),
        ((an_effect(0.2, 3, 0), an_effect(0.1, 5, 0), an_effect(0.3, 2, 2)), SCALED),
        ((an_effect(0.2, 3, 0, False), an_effect(0.1, 1, 0), an_effect(0.3, 2, 2)), RATE),
        ((an_effect(0.2, 3, 3), an_effect(-0.1, 1, 0), an_effect(0.3, 0, 0)), PRESENT),
    ],
)
def test_the_greatest_effect_that_is_decided_is_chosen(effects, chosen):
    assert defaults.chosen(dict(zip((SCALED, RATE, BOTH), effects, strict=True))) == chosen


def with_scaling(settings):
    """Scaling makes ER better on Acrobot; with the greater rate, it makes learned models better."""
    height, error = level(settings)
    rate = settings.get("model_learning_rate")
    if settings["env"] != "PuddleWorld" and "scale_observations" in settings:
        height += 500 if (settings["algorithm"], settings["env"]) == ("er", "Acrobot-v1") else 0
        height += 100 if rate else 0
    return height, error


def test_what_was_put_in_is_chosen_and_compared_with_er():
    stored = made_up_units(with_scaling)
    found = cells.study(stored)
    assert found.chosen_defaults == BOTH
    effect = found.default_effects[BOTH]
    acrobot = Place(ER, Cell("Acrobot-v1"))
    learned = {p for p in PLACES if p.cell.model == "learned" and p.cell.domain != "PuddleWorld"}
    assert (effect.better, effect.worse) == ({acrobot, *learned}, set())
    assert found.default_effects[SCALED].better == {acrobot}
    goal = verdicts.claims(found)[-2]
    assert goal.what == defaults.GOAL
    told = "both: decidedly worse in 1 of 6 cells: Acrobot-v1, learned model"
    assert (goal.ours, goal.verdict, goal.paper) == (told, "does not hold", "own goal")
    findings = registry.find("C").analyse(stored)
    table = findings.further[-1]
    rows = {row[0]: row[1:] for row in table}
    assert rows["chosen"] == ["no", "no", "no", "yes"]
    assert rows["cells in which it is decidedly better; worse"] == ["", "1; 0", "0; 0", "6; 0"]
    assert rows["ER, PuddleWorld"][1:] == ["the same"] * 3
    assert rows[str(acrobot)][1].endswith(f"; {found.default_effects[SCALED].sizes[acrobot]:+.2f}")
    assert "stage 5 (the library's defaults): 26 of 26 trainings" in findings.notes[0]
    assert any("Chosen: both." in note for note in findings.notes)


def test_the_present_defaults_are_compared_with_er_if_nothing_is_better():
    found = cells.study(made_up_units())
    assert found.chosen_defaults == PRESENT
    goal = verdicts.claims(found)[-2]
    assert (goal.ours, goal.verdict) == (
        "settings of stage 1: decidedly worse in 0 of 6 cells",
        "holds",
    )


def test_a_candidate_with_a_diverged_seed_is_not_chosen():
    stored = made_up_units(with_scaling)
    name = "CartPole-v1-er-learn-in-warmup-False-scale-observations-True-steps-30000"
    stored[name].record.metrics["return"][0, -1] = np.nan
    found = cells.study(stored)
    assert not found.default_effects[BOTH].is_stable
    assert found.chosen_defaults == PRESENT
    del stored[name]
    found = cells.study(stored)
    assert found.chosen_defaults is None
    assert set(found.default_effects) == {RATE}
    assert verdicts.claims(found)[-2].verdict == "undecided"


def confirming():
    return next(of for stage, of in units.stages().items() if stage.startswith("stage 6"))


def test_the_recommended_control_with_the_chosen_defaults_is_compared_with_er(monkeypatch):
    monkeypatch.setattr(defaults, "CHOSEN", None)
    undecided = verdicts.claims(cells.study(made_up_units(with_scaling)))[-1]
    assert (undecided.what, undecided.verdict) == (defaults.GOAL_OF_BOTH, "undecided")
    monkeypatch.setattr(defaults, "CHOSEN", ("td-error", BOTH))
    stored = made_up_units(with_scaling)
    new = [unit.settings for unit in confirming()]
    assert {one["algorithm"] for one in new} == {"dyna-td-error"}
    assert len(new) == 2 * 6 - 1  # scaling and rate change nothing on PuddleWorld, true model
    goal = verdicts.claims(cells.study(stored))[-1]
    told = "td-error, both: decidedly worse in 2 of 12 cells: Acrobot-v1, true model; Acrobot-v1"
    assert goal.ours.startswith(told)
    assert goal.verdict == "does not hold"
    monkeypatch.setattr(defaults, "CHOSEN", ("uniform", BOTH))  # which stage 5 has
    assert not confirming()
    assert len(cells.study(stored).confirming) == 12
