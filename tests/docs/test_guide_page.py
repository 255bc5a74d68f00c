"""The text of docs/which-search-control.md says what the stored trainings of the study say."""

import re
from pathlib import Path

import pytest

from freqdyna.experiments import registry, reproduce
from freqdyna.experiments.parts.controls import cells, defaults, verdicts
from freqdyna.experiments.parts.controls.defaults import Place
from freqdyna.experiments.parts.controls.design import ER, Cell
from freqdyna.experiments.parts.controls.hypotheses import GOALS
from freqdyna.experiments.stored_trainings import area

ROOT = Path(__file__).parents[2]
TEXT = " ".join((ROOT / "docs" / "which-search-control.md").read_text().split())


@pytest.fixture(scope="module")
def study():
    return cells.study(reproduce.stored(registry.find("C"), ROOT / "results" / "reproduce"))


@pytest.fixture(scope="module")
def claims(study):
    """The verdicts and what they rest on, by the name of the hypothesis or the goal."""
    return {claim.what.split(":")[0]: claim for claim in verdicts.claims(study)}


def mean(stored):
    return f"{area(stored).mean():.0f}".replace("-", "−")


def test_the_verdicts_on_hypotheses_are_those_of_the_study(claims):
    for name in ("H1", "H2", "H3"):
        assert claims[name].verdict == "holds"
        assert f"{name} holds" in TEXT
    assert claims["H4"].verdict == "undecided"
    assert "formally remains undecided: it is decidedly better in four of five domains" in TEXT
    assert "decidedly better in 4, decidedly worse in 0" in claims["H4"].ours
    assert "decidedly better in 6, decidedly worse in 0" in claims["H1"].ours
    assert (
        "better (n = 2), undecided (n = 3), undecided (n = 4), worse (n = 6)" in claims["H2"].ours
    )
    found = re.search(r"mean rank correlation \+([\d.]+)", claims["H3"].ours)[1]
    assert f"mean rank correlation {found}, {claims['H3'].interval};" in TEXT


def test_the_verdicts_on_goals_are_those_of_the_study(claims):
    share, gain, not_worse = (claims[goal] for goal in GOALS)
    assert [share.verdict, gain.verdict, not_worse.verdict] == ["holds", "holds", "does not hold"]
    good = re.search(r"\d+ of \d+", share.ours)[0]
    assert f"in {good} combinations" in TEXT
    on_mountain_car = re.search(r"MountainCar-v0 \+(\d+%)", gain.ours)[1]
    assert f"(on MountainCar {on_mountain_car})" in TEXT
    worse = re.search(r"\d+ of \d+ cells", not_worse.ours)[0]
    assert f"in {worse} it is" in TEXT
    both = claims[defaults.GOAL_OF_BOTH]
    assert "decidedly worse in 0 of 12 cells" in both.ours
    assert "decidedly worse than ER in none of 12 cells" in TEXT


def test_the_numbers_of_single_trainings_are_the_stored_ones(study):
    learned, puddles = Cell("Acrobot-v1", "learned"), Cell("PuddleWorld", "learned")
    td, er = mean(study.cells[learned]["td-error"]), mean(study.cells[learned][ER])
    assert f"worse than not planning: {td} instead of {er}." in TEXT
    ensemble = study.cells[Cell("Acrobot-v1", "ensemble")]["td-error"]
    assert f"does not help there ({mean(ensemble)})" in TEXT
    both, rate = (study.candidates[name] for name in ("both", "model learning rate 0.001"))
    assert f"reach {mean(both[Place('uniform', learned)])} on Acrobot" in TEXT
    effects = study.default_effects
    sizes = (effects[name].mean_size for name in ("scaled observations", "both"))
    assert "(mean effect size {:.3f} against {:.3f})".format(*sizes) in TEXT
    there = rate[Place("uniform", puddles)], study.cells[puddles]["uniform"]
    assert "({} instead of {})".format(*map(mean, there)) in TEXT
    assert Place("uniform", puddles) not in effects["both"].worse
    assert f"still behind, {mean(study.confirming[learned])} instead of {er}." in TEXT
