"""The study of search-controls: its trainings, its rules, and its verdicts on made-up curves."""

import json
from pathlib import Path

import numpy as np
import pytest
from made_up_study import SEEDS, STEPS, made_up, made_up_units

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.agents.unused_settings import without_effect
from freqdyna.cli.bench import controls as bench
from freqdyna.cli.bench.rates import Rate
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.experiments import registry, reproduce, store
from freqdyna.experiments.base import Stored
from freqdyna.experiments.diverged_seeds import findings_of
from freqdyna.experiments.parts.controls import (
    cells,
    defaults,
    guide,
    recommendation,
    tuning,
    units,
    verdicts,
)
from freqdyna.experiments.parts.controls.charts import profiles
from freqdyna.experiments.parts.controls.design import (
    CONTROLS,
    DOMAINS,
    ER,
    FIRST_STAGE,
    TUBES,
    Cell,
)
from freqdyna.experiments.parts.controls.recommendation import Standing
from freqdyna.experiments.parts.controls.step_times import COLUMNS, over_equal_time, stored_times
from freqdyna.experiments.parts.controls.step_times import unit as step_times_unit
from freqdyna.experiments.parts.controls.tables import tables
from freqdyna.results.draw_matplotlib import draw

RESULTS = Path(__file__).parents[2] / "results" / "reproduce"


def test_the_stages_have_the_trainings_of_the_design():
    found = units.units(False)
    assert len({unit.name for unit in found}) == len(found)
    assert max(len(unit.name) for unit in found) < 180
    assert all(unit.optional for unit in found)
    tuned, *stages = units.stages().values()
    assert len(tuned) == 6 * 3 * 2
    assert {(u.settings["seeds"], u.settings["steps"]) for u in tuned} == {(10, 20_000)}
    assert {unit.settings["first_seed"] for unit in tuned} == {1000}
    rest = [unit.settings for stage in stages for unit in stage]
    assert {(one["seeds"], one["steps"]) for one in rest} == {(30, 30_000)}
    assert not any("first_seed" in one for one in rest)
    with_noise_or_ensemble = 102 + 6 * len(units.FIVE_BEST)
    assert [len(stage) for stage in stages[:5]] == [102, 30, 26, with_noise_or_ensemble, 24]
    assert len(stages[6]) == 11
    assert sum(one["env"].startswith("Tube") for one in rest) == 30
    assert sum(bool(one.keys() & {*VARIED}) for one in rest) == 24


VARIED = ("planning_steps", "search_states")


def test_no_training_of_the_study_is_one_of_another_part():
    others = {
        unit.name
        for name, part in registry.PARTS.items()
        if part.experiment and name != "C"
        for unit in part.experiment.units(False)
    }
    assert others.isdisjoint(unit.name for unit in units.units(False))


def test_every_training_can_be_built_and_uses_all_of_its_settings():
    for unit in units.units(False):
        config = resolved_by_name(unit.meaning(unit.settings))
        env = envs.make(config.env)
        algorithms.build(config, env)
        assert without_effect(config, env) is None
        assert config.learn_in_warmup is False
        wanted = "true" if unit.settings["algorithm"] == "naf" else config.model
        assert unit.settings.get("model", "true") == wanted
        if not unit.settings.keys() & {*VARIED}:
            numbers = {"MazeGridWorld": (30, 50), "Pendulum-v1": (5, 20)}.get(config.env, (10, 20))
            assert (config.planning_steps, config.search_states) == numbers
        assert (config.loss == "huber") == (config.env == "PuddleWorld")
        assert not unit.compute.stores_states
        assert not unit.compute.stores_parameters


def test_the_variant_with_the_greatest_mean_effect_is_chosen():
    noise = np.array([-1.0, 0.0, 1.0])  # standard deviation 1
    first, second = tuning.CELLS
    areas = {(first, 0): noise, (second, 0): 100 * noise}
    areas |= {(first, 1): noise + 3, (second, 1): 100 * noise - 100}  # effects 3 and −1
    areas |= {(first, 2): noise + 1, (second, 2): 100 * noise + 200}  # effects 1 and 2
    assert tuning.effects(areas, 3, seeds=3) == pytest.approx([0.0, 1.0, 1.5])
    areas[second, 2] = areas[second, 2][:2]  # a seed diverged
    assert tuning.chosen(tuning.effects(areas, 3, seeds=3)) == 1
    assert tuning.chosen([0.0, -1.0, 0.0]) == 0  # in a tie, the defaults
    assert tuning.effect_size(noise, noise) == 0
    assert tuning.effect_size(np.ones(2), np.zeros(2)) == np.inf


def test_what_is_written_down_is_what_the_stored_trainings_choose():
    """Nothing, as long as they are not stored."""
    found = cells.study(reproduce.stored(registry.find("C"), RESULTS))
    assert cells.chosen_settings(found) == tuning.CHOSEN
    first = found.complete()
    best = recommendation.best_by_rank(first, 5) if len(first) == len(FIRST_STAGE) else ()
    assert best == units.FIVE_BEST
    control = recommendation.recommended(recommendation.standings(first, found.worse))
    both = (control, found.chosen_defaults) if best and found.chosen_defaults else None
    assert both == defaults.CHOSEN


def normal(mean, spread=1.0, seed=0):
    return np.random.default_rng(seed).normal(mean, spread, 30)


def test_who_is_best_everywhere_is_recommended():
    areas = {
        cell: {control: normal(-100.0 * i, seed=i) for i, control in enumerate(CONTROLS)}
        for cell in FIRST_STAGE
    }
    worse = {cell: recommendation.decidedly_worse(of) for cell, of in areas.items()}
    found = recommendation.standings(areas, worse)
    assert found["replay"] == Standing(12, 12, 1.0)
    assert found["value"] == Standing(0, 12, 2.0)
    assert recommendation.recommended(found) == "replay"
    assert recommendation.best_by_rank(areas, 2) == ("replay", "value")
    low, high = recommendation.rank_intervals(list(areas.values()))["value"]
    assert low == high == 2.0


def test_of_equal_shares_the_better_mean_rank_decides():
    same = {"uniform": Standing(3, 4, 2.5), "value": Standing(3, 4, 2.0)}
    assert recommendation.recommended(same) == "value"
    assert recommendation.recommended(same | {"replay": Standing(4, 4, 3.0)}) == "replay"


def test_who_is_not_decidedly_worse_counts_as_good():
    cell = {"uniform": normal(0.0), "value": normal(0.1, seed=1), "replay": normal(-5.0, seed=2)}
    assert recommendation.decidedly_worse(cell) == {"replay"}
    assert sorted(recommendation.ranks(cell).values()) == [1.0, 2.0, 3.0]
    tied = {"uniform": np.zeros(4), "value": np.zeros(4)}
    assert recommendation.ranks(tied) == {"uniform": 1.5, "value": 1.5}
    assert recommendation.decidedly_worse(tied) == set()


def test_a_gain_is_a_share_of_the_cost_or_of_the_return():
    assert recommendation.gain(np.array([-80.0]), np.array([-100.0])) == pytest.approx(0.2)
    assert recommendation.gain(np.array([240.0]), np.array([200.0])) == pytest.approx(0.2)
    assert recommendation.gain(np.array([-120.0]), np.array([-100.0])) == pytest.approx(-0.2)


def test_equal_time_ends_with_the_faster_training():
    slow = made_up({"env": "GridWorld"}, -100.0, spread=0.0)
    slow.record.metrics["return"][:] = -STEPS
    fast = made_up({"env": "GridWorld"}, -50.0, spread=0.0)
    fast.record.metrics["return"][:] = -50.0
    found = over_equal_time({"slow": slow, "fast": fast}, {"slow": 2.0, "fast": 1.0})
    # In the time of 25,000 fast steps, the slow training gets from step 5,000 to step 17,500.
    assert found["slow"] == pytest.approx(np.full(SEEDS, -11_250), rel=0.01)
    assert found["fast"] == pytest.approx(np.full(SEEDS, -50.0))


H, N, U = "holds", "does not hold", "undecided"


@pytest.mark.parametrize(
    ("by_n", "verdict"),
    [
        ([H, H, U, N, N], H),
        ([U, U, U, U, N], H),
        ([N, N, N, N, N], U),
        ([H, N, H, N, N], U),
        ([H, H, H, H, H], N),
        ([H, H, H, H, U], U),
    ],
)
def test_where_uniform_turns_from_better_to_worse(by_n, verdict):
    assert verdicts.turns(by_n) == verdict


def test_an_association_is_found_where_there_is_one():
    order = np.arange(8.0)
    mean, p = verdicts.association([(order, 10 * order)] * 3)
    assert mean == pytest.approx(1.0)
    assert p < 0.001
    assert verdicts.association([(order, -order)])[0] == pytest.approx(-1.0)
    mixed = np.array([3, 1, 7, 0, 5, 2, 6, 4])
    assert verdicts.association([(order, mixed)])[1] > 0.05


def times(microseconds):
    """Measured times, the same in all domains."""
    rows = [
        (domain, control, json.dumps(units.tuned_settings(control, Cell(domain))), one)
        for domain in DOMAINS
        for control, one in microseconds.items()
    ]
    columns = dict(zip(COLUMNS, map(np.array, zip(*rows, strict=True)), strict=True))
    return {"step-times-gpu": Stored(columns, {}, {})}


def test_a_better_guide_wins_unless_it_takes_too_long():
    fast, slow = {"td-error": 2.0, "frequency": 4.0}, {"td-error": 1e4, "frequency": 1.0}
    study = made_up_units()
    for name, one in study.items():
        if name.startswith("TubeGridWorld") or "learned" in name:
            continue
        one.record.metrics["return"] += np.minimum(STEPS - 7000, 0)  # learned at step 7,000
    for microseconds, verdict in ((fast, H), (slow, N)):
        claims = verdicts.claims(cells.study(study | times(microseconds)))
        found = {claim.what[:2]: claim.verdict for claim in claims if claim.rule == "study"}
        assert found["H4"] == verdict


def test_times_of_other_settings_are_not_used():
    stored = times({"td-error": 2.0})
    stored["step-times-gpu"].columns["settings"][0] = "{}"
    found = stored_times(stored)["gpu"]
    assert ("MountainCar-v0", "td-error") not in found
    assert found["GridWorld", "td-error"] == 2.0


def test_a_performance_profile_is_the_share_of_runs_above_a_score():
    cell = {"uniform": np.array([0.0, 5.0, 10.0]), "value": np.array([0.0, 0.0, 2.0])}
    found = profiles([cell, cell], np.array([0.0, 0.3, 0.9, 1.0]))
    assert found["uniform"] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0])
    assert found["value"] == pytest.approx([1 / 3, 0, 0, 0])


def test_times_are_measured_once_and_stored(tmp_path, monkeypatch):
    measured = []

    def measure(name, config, env, seconds):
        measured.append((config.env, config.algorithm))
        assert (config.seeds, config.warmup_steps, config.learn_in_warmup) == (30, 0, False)
        return Rate(name, "freqdyna", 30, 1e6 / 5, 1.0, 1.0, 0.0)

    monkeypatch.setattr(bench, "measure_config", measure)
    bench.measure_controls(tmp_path, ("GridWorld",))
    assert len(measured) == 9
    bench.measure_controls(tmp_path, ("GridWorld", "PuddleWorld"))
    assert len(measured) == 18
    unit = step_times_unit("cpu")
    found = stored_times({unit.name: store.read(tmp_path / "C", unit)})["cpu"]
    assert found["GridWorld", ER] == found["PuddleWorld", "uniform"] == pytest.approx(5.0)


def test_what_was_put_in_is_found():
    found = cells.study(made_up_units())
    claims = {claim.what.split(":")[0]: claim for claim in verdicts.claims(found)}
    assert (claims["H1"].verdict, claims["H2"].verdict, claims["H3"].verdict) == (H, H, H)
    assert "mean rank correlation +1.00" in claims["H3"].ours
    assert "better (n = 4), worse (n = 6)" in claims["H2"].ours
    assert claims["H4"].verdict == U  # no times are stored
    share, gains, er = verdicts.claims(found)[-5:-2]
    assert share.ours.startswith("td-error: 35 of 35 cells, 100%")
    assert gains.ours.startswith("td-error: 5 of 5 domains; MountainCar-v0 +")
    assert er.ours == "td-error: decidedly worse in 0 of 35 cells"
    assert (share.verdict, gains.verdict, er.verdict) == (H, H, H)
    assert Cell("GridWorld") in found.cells
    assert len(found.cells[TUBES[8]]) == 6
    header, *rows = next(table for table in tables(found) if "continuous" in table[0][0])
    assert header[1:] == ["Pendulum-v1, true model", "Pendulum-v1, learned model"]
    assert [row[0] for row in rows[-2:]] == ["replay", "no search-control"]
    assert not any("not stored" in cell for row in rows for cell in row)


def test_a_training_without_seeds_counts_as_not_stored():
    study = made_up_units()
    lost = "GridWorld-dyna-uniform-learn-in-warmup-False-steps-30000"
    study[lost].record.metrics["return"][:, -1] = np.nan
    found = findings_of(registry.find("C"), study)
    assert "11 of the 12 cells of stage 1 are stored" in found.claims[-3].ours
    assert any(lost in note for note in found.notes)


def test_any_part_of_the_study_can_be_analysed(tmp_path):
    every = made_up_units()
    names = list(every)
    for some in (names[:3], names[-3:], names[100:110], names[::7]):
        findings = registry.find("C").analyse({name: every[name] for name in some})
        draw(findings.chart).savefig(tmp_path / "figure.png")
        assert {c.verdict for c in findings.claims if c.rule == "study"} == {U}


def test_the_guide_marks_what_is_not_decidedly_worse_and_says_what_it_costs():
    found = cells.study(made_up_units())
    lines = guide.table(found, "true").splitlines()
    rows = {line.split(" | ")[1]: line for line in lines[2:]}
    assert lines[2].split(" | ")[1] == "`dyna-td-error`"  # the best is first
    assert lines[-1].split(" | ")[1] == "`er`"
    assert rows["`dyna-td-error`"].count("**−") == 6
    tuned = "`dyna-frequency --climb-boundary project`"
    assert "**" not in rows[tuned] + rows["`er`"]
    times = {
        ("A", ER): 2.0,
        ("B", ER): 1.0,
        ("A", "value"): 4.0,
        ("B", "value"): 8.0,
        ("C", "value"): 9.0,
    }
    assert guide.costs_of(times) == pytest.approx({ER: 1.0, "value": 4.0})
