"""F4, F5 and F8: what they train, and what they say of stored trainings with known answers."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs import MazeGridWorld
from freqdyna.envs.resolve import named_environment, resolved_by_name
from freqdyna.results.record import Record
from freqdyna.search_control.hill_climb import HillClimb
from reproduction import registry, reproduce, store
from reproduction.parts import maze
from reproduction.readings import IN_THE_MAZE
from reproduction.trainings import PAPERS_STEP

SEEDS, STATES = 12, 1000
INSIDE = [reading for reading in IN_THE_MAZE if reading.startswith("walls inside")]
HOLES = np.array([wall.hole_center for wall in MazeGridWorld.walls])
PROVENANCE = {"commit": "0" * 40, "command": "-", "machine": "-", "devices": 1, "seconds": 1.0}
PROVENANCE |= {"device_kind": "-", "date": "2026-01-01", "resumed": False}


def test_every_interpretation_reaches_the_environment_and_the_climb():
    units = {unit.name: unit for unit in registry.find("F4").units(False)}
    assert len(units) == 8 * 2 + 2 * 2 + 1
    seen = set()
    for reading in IN_THE_MAZE:
        walls, edge, sigma = reading.split(", ")
        for name in maze.BOTH:
            wanted = {"seeds": 100, "steps": 50_000} | maze.settings(reading, name)
            (unit,) = (unit for unit in units.values() if unit.settings == wanted)
            config = resolved_by_name(unit.meaning(unit.settings))
            env, climb = named_environment(config), HillClimb.from_config(config)
            inside = walls == "walls inside"
            assert env.walls_in_state_space == inside
            assert env.collision == ("end_point" if inside else "segment")
            assert climb.boundary == {"restart": "restart", "clip": "project"}[edge]
            assert climb.preconditioner == {"Σ": "covariance", "I": "identity"}[sigma]
            assert (config.planning_steps, config.hidden) == (30, (64, 64))
            seen.add((unit.name, env.walls_in_state_space, climb.boundary, climb.preconditioner))
    assert len(seen) == 16


def test_the_longer_trainings_and_the_learned_model_have_30_seeds():
    others = [u for u in registry.find("F4").units(False) if u.settings["seeds"] == 30]
    assert [(u.name, u.settings["steps"]) for u in others] == [
        ("MazeGridWorld-dyna-frequency-steps-100000", 100_000),
        ("MazeGridWorld-dyna-value-steps-100000", 100_000),
        *(
            (
                f"MazeGridWorld-{algorithm}-climb-boundary-project-climb-preconditioner-identity-"
                "collision-end_point-walls-in-state-space-True-steps-100000",
                100_000,
            )
            for algorithm in ("dyna-frequency", "dyna-value")
        ),
        ("MazeGridWorld-dyna-frequency-model-learned", 50_000),
    ]


def made_up_states(near_hole, near_goal):
    """States of which known numbers are near a hole and near the goal, one more in each seed."""
    generator = np.random.default_rng(0)
    drawn = generator.uniform(0, 1, (SEEDS * 4 * STATES, 2))
    far = np.linalg.norm(drawn[:, None] - HOLES, axis=-1).min(1) > 0.12
    drawn = drawn[far & ~(drawn > 0.75).all(1)][: SEEDS * STATES].reshape(SEEDS, STATES, 2)
    for seed, states in enumerate(drawn):
        holes, goal = near_hole + seed - SEEDS // 2, near_goal + seed - SEEDS // 2
        places = HOLES[generator.integers(len(HOLES), size=holes)]
        states[:holes] = places + generator.uniform(-0.06, 0.06, (holes, 2))
        states[-goal:] = generator.uniform(0.85, 0.95, (goal, 2))
    return drawn


def made_up_record(unit):
    """Dyna-Frequency learns earlier, and is at the holes more often if walls are outside.

    Dyna-Value is near the goal more often. The spread over seeds is the same.
    """
    s = unit.settings
    frequency, inside = s["algorithm"] == "dyna-frequency", "walls_in_state_space" in s
    near_hole = {(True, False): 253, (False, False): 117, (True, True): 60, (False, True): 200}
    points = made_up_states(near_hole[frequency, inside], 40 if frequency else 90)
    steps = np.arange(500, s["steps"] + 1, 500)
    learned = steps > (10_000 if frequency else 25_000)
    offsets = np.linspace(-60, 60, SEEDS)[:, None]
    returns = np.where(learned, -150.0 if frequency else -300.0, -1900.0) + offsets
    at = [PAPERS_STEP, s["steps"]] if s["steps"] > PAPERS_STEP else [s["steps"]]
    snapshots = {step: {"queue": points, "replay": points[:, ::-1]} for step in at}
    config, seeds = Config.of(s | {"seeds": SEEDS, "snapshot_steps": at}), np.arange(SEEDS)
    return Record(
        config, {}, seeds, steps, {"return": returns}, np.zeros((SEEDS, 0)), (), snapshots
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder in which all trainings of the maze are stored."""
    out = tmp_path_factory.mktemp("reproduce")
    for unit in registry.find("F4").units(False):
        store.write(out / "F4", unit, made_up_record(unit), PROVENANCE)
    return out


def analysed(name, out):
    return reproduce.analyse(registry.find(name), out)


def test_claims_of_f5_depend_on_the_walls_where_they_were_made_to(stored):
    findings = analysed("F5", stored)
    outside = [reading for reading in IN_THE_MAZE if reading not in INSIDE]
    for claim in findings.claims:
        decided = dict.fromkeys(outside, "holds") | dict.fromkeys(INSIDE, "does not hold")
        assert claim.by_reading == decided
        assert claim.verdict == "depends"
        assert claim.ours == "8 interpretations: 4 × holds, 4 × does not hold"
    (table,) = findings.further
    assert [row[0] for row in table[1:]] == list(IN_THE_MAZE)
    for row in table[1:]:
        known = ("5.95%", "19.95%") if row[0] in INSIDE else ("25.25%", "11.65%")
        assert [cell.split()[0] for cell in row[1:3]] == list(known)
    shares = {row[0]: row[1:] for row in findings.summary[1:]}
    assert len(shares) == 8 + 4
    for step in ("56,000", "100,000"):
        of_long = shares[f"walls inside, clip, I; at step {step} of 100,000"]
        assert float(of_long[0].split("%")[0]) == pytest.approx(5.95, abs=0.06)
        assert of_long[3].endswith("(12 seeds)")
    assert "under eight interpretations" in findings.notes[-1]  # nothing is missing
    assert len(findings.chart.panels) == 4


def test_claims_of_f4_and_f8_hold_where_they_do_under_all(stored):
    findings = analysed("F4", stored)
    spreads, leads, of_long, learned = (findings.claims[i : i + 2] for i in (0, 2, 4, 6))
    assert [claim.verdict for claim in spreads] == ["undecided"] * 2  # they are equal
    assert [claim.verdict for claim in leads] == ["holds"] * 2
    assert [claim.verdict for claim in of_long] == ["holds"] * 2
    assert all(list(claim.by_reading) == list(maze.MAIN) for claim in of_long)
    assert [claim.verdict for claim in learned] == ["undecided", "holds"]  # like the true model
    assert all(list(claim.by_reading) == list(IN_THE_MAZE) for claim in (*spreads, *leads))
    assert len(findings.further[0]) == 1 + 8
    assert len(findings.summary) == 1 + 8 * 2 + 1 + 4
    assert (len(findings.chart.panels), findings.chart.columns) == (10, 5)
    assert findings.chart.panels[5].title.startswith("100,000 steps")

    findings = analysed("F8", stored)
    gathered, *distances = findings.claims
    assert gathered.ours == "8 interpretations: 8 × holds"
    # The replay buffers were made of the same states as the queues.
    assert [claim.verdict for claim in distances] == ["does not hold"] * 2
    assert len(findings.further[0]) == 1 + 8
    assert len(findings.chart.panels) == 8


def test_the_findings_say_what_is_not_computed_yet(stored, tmp_path):
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    experiment = registry.find("F5")
    units = experiment.units(False)
    for unit in units:
        if "walls_in_state_space" in unit.settings or unit.settings["steps"] > 50_000:
            store.unit_path(tmp_path / "F5", unit).unlink()
    assert reproduce.is_stored(experiment, tmp_path)
    findings = reproduce.analyse(experiment, tmp_path)
    assert [claim.verdict for claim in findings.claims] == ["holds"] * 3
    rule, *missing = findings.notes[1:]
    assert "under 4 of the eight interpretations" in rule
    assert "Stored so far: walls outside, restart, Σ; walls outside, restart, I; " in rule
    assert missing == ["12 of 20 trainings are not computed yet."]
    default = units[-1]
    fewer = replace(default, settings=default.settings | {"seeds": 30})
    store.write(tmp_path / "F5", fewer, made_up_record(fewer), PROVENANCE)
    with pytest.raises(FreqdynaError, match="was computed with other settings"):
        reproduce.reproduce(experiment, tmp_path)  # rather than to compute the missing ones only
    store.unit_path(tmp_path / "F5", default).unlink()
    assert not reproduce.is_stored(experiment, tmp_path)
    with pytest.raises(FreqdynaError, match="is missing; compute it with: freqdyna reproduce F5"):
        reproduce.analyse(experiment, tmp_path)
