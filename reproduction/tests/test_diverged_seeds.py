"""Seeds that diverged are left out of every statistic of an experiment, which says so."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.tables import decode_table
from freqdyna.results.complete_seeds import mark_diverged
from freqdyna.results.record import Record
from freqdyna.results.result import load
from reproduction import registry, reproduce
from reproduction.base import Stored
from reproduction.comparisons import NO_SEEDS, Comparison, judge, judge_spread
from reproduction.diverged_seeds import findings_of, seeds_of_stored
from reproduction.parts.equal_budget.analysis import _area_of_half
from reproduction.stored_trainings import (
    area,
    left_out,
    seeds_of,
    states,
    training_of,
    unlearned,
)
from reproduction.summary import summary
from reproduction.trainings import trimmed
from reproduction.verify import _agreement

RESULTS = Path(__file__).parents[2] / "results"


def a_training(levels, diverged=(), settings=None):
    """A stored training whose seeds return these levels; seeds in `diverged` do from step 40 on."""
    levels, seeds = np.array(levels, np.float32), np.arange(len(levels))
    at = np.full((len(levels), 10), -1)
    at[list(diverged), 3:] = 35
    steps = np.arange(10, 101, 10)
    metrics = {"return": np.repeat(levels[:, None], 10, axis=1), "diverged_at": at}
    metrics["climb_vanished"] = np.zeros_like(metrics["return"])
    states_ = np.repeat(seeds[:, None, None], 5, axis=1) / 10 * np.ones(2)
    config = Config(
        env="MountainCar-v0", seeds=len(levels), steps=100, warmup_steps=10, eval_every=10
    )
    record = Record(
        config=config,
        provenance={},
        seeds=seeds,
        steps=steps,
        metrics=mark_diverged(metrics, steps),
        parameters=np.zeros((len(levels), 0), np.float32),
        layer_sizes=(),
        snapshots={100: {"queue": states_}},
    )
    return Stored({}, settings or {}, {}, record)


def test_statistics_of_a_training_are_over_its_complete_seeds():
    stored = a_training([-10, -2000, -30, -40], diverged=[1])
    np.testing.assert_allclose(area(stored), [-10, -30, -40])
    assert unlearned(stored).tolist() == [False] * 3
    assert seeds_of(stored).tolist() == [0, 2, 3]
    np.testing.assert_allclose(states(stored, "queue")[:, 0, 0], [0.0, 0.2, 0.3])
    np.testing.assert_allclose(_area_of_half(stored, odd=True), [-40])
    np.testing.assert_allclose(_area_of_half(stored, odd=False), [-10, -30])
    assert summary({"ER": stored}, -20.0)[1][0] == "ER; seeds: 3 of 4 (1 diverged)"
    assert summary({"ER": stored}, -20.0)[1][-1] == "2"  # never reach it


def test_a_comparison_says_which_seeds_it_leaves_out():
    some, all_ = a_training([-10, 5000, -12, -14], diverged=[1]), a_training([-20, -21, -22, -23])
    assert left_out(all_) == ""
    (claim,) = judge([Comparison.of("", "", area, some, all_)])
    assert claim.ours.startswith("mean +10, IQM +10, P(better) 1.00")
    assert claim.ours.endswith("; seeds: 3 of 4 (1 diverged) and 4")
    (spread,) = judge_spread([Comparison.of("", "", area, some, all_)])
    assert "3 of 4 (1 diverged) and 4" in spread.ours
    (claim,) = judge([Comparison.of("", "", area, all_, all_)])
    assert "seeds" not in claim.ours


def test_nothing_is_decided_without_seeds():
    none, some = a_training([-10, -10], diverged=[0, 1]), a_training([-20, -21])
    (claim,) = judge([Comparison.of("", "", area, none, some)])
    assert claim.ours == f"{NO_SEEDS}; seeds: 0 of 2 (2 diverged) and 2"
    assert claim.verdict == "undecided"
    (spread,) = judge_spread([Comparison.of("", "", area, some, none)])
    assert (spread.verdict, spread.interval) == ("undecided", "")
    with pytest.raises(FreqdynaError, match="cannot be compared: all 2 seeds diverged"):
        _compare(some, none)


def _compare(before, now):
    facts = {"device_kind": "abacus", "machine": "", "versions": {}}
    return _agreement("it", replace(before, provenance=facts), replace(now, provenance=facts))


def test_verification_compares_the_seeds_that_are_left():
    before, now = a_training([-10, 7, -12, -14]), a_training([-10, 7, -12, -14], diverged=[1])
    assert "82% of the returns are equal" in _compare(before, now)
    assert "(seeds: 3 of 4 (1 diverged) and 4)" in _compare(before, now)


def x1_units(diverged):
    """Trainings of the experiment X1, the first of which has these diverged seeds."""
    units = registry.find("X1").units(True)
    return {
        unit.name: a_training([-10, -20, -30, -40], diverged if not place else (), unit.settings)
        for place, unit in enumerate(units)
    }


def test_findings_name_the_trainings_with_seeds_left_out():
    experiment, units = registry.find("X1"), x1_units([2])
    found = findings_of(experiment, units)
    first = next(iter(units))
    assert found.notes[-1].endswith(f"{first}: 3 of 4 seeds; 1 diverged.")
    labels = [mark.label for mark in found.chart.panels[0].marks]
    assert sum("(seeds: 3 of 4 (1 diverged))" in label for label in labels) == 1
    assert "left out" not in " ".join(findings_of(experiment, x1_units([])).notes)


def test_an_experiment_is_not_analysed_without_seeds():
    units = x1_units([0, 1, 2, 3])
    found = findings_of(registry.find("X1"), units)
    assert found.notes == (f"Not analysed: {next(iter(units))}: all 4 seeds diverged.",)
    assert not found.claims


def test_what_is_stored_of_a_training_says_when_seeds_diverged():
    record = training_of(a_training([-10, -20], diverged=[1]))
    kept = trimmed(record)
    assert kept.metrics["diverged_at"].dtype == np.int32
    curves = trimmed(record, with_parameters=False)
    assert curves.parameters.shape == (2, 0)
    for one in (record, kept, curves):
        assert one.complete_seeds.text() == "1 of 2; 1 diverged"


def test_the_paragraph_on_stored_trainings_counts_seeds():
    known = training_of(a_training([-10, -20, -30], diverged=[1]))
    assert seeds_of_stored([known]) == (
        "The 1 stored trainings have 3 seeds; 1 of the seeds are left out because of divergence or "
        "a failing environment."
    )
    metrics = {name: v for name, v in known.metrics.items() if name != "diverged_at"}
    old = replace(known, metrics=metrics | {"return": np.array([[-9.0], [-5.0], [-9.0]])})
    old.metrics["climb_vanished"][:, -1] = [1.0, 1.0, 0.5]
    assert "1 of their seeds have the lowest return" in seeds_of_stored([old])


def test_no_stored_run_has_a_seed_that_diverged_or_stopped():
    folders = [path.parent for path in sorted(RESULTS.glob("*/*/config.toml"))]
    runs = [load(folder) for folder in folders]
    assert (len(runs), sum(len(run.seeds) for run in runs)) == (25, 612)
    assert all("diverged_at" in run.metrics for run in runs)
    assert all(run.complete_seeds.kept.all() for run in runs)


def test_no_stored_training_of_the_paper_has_one():
    stored = {}
    for name, part in registry.PARTS.items():
        if part.experiment:
            stored |= reproduce.stored(registry.find(name), RESULTS / "reproduce")
    trainings = [unit.record for unit in stored.values() if unit.record is not None]
    text = seeds_of_stored(trainings)
    assert "no seed is left out" in text
    assert text in (RESULTS.parent / "docs" / "reproduction.md").read_text()
    for name in ("B/MountainCar-v0", "B/MazeGridWorld", "F1/curves", "F2/curves"):
        columns, _ = decode_table((RESULTS / "reproduce" / f"{name}.parquet").read_bytes())
        numbers = [v for v in columns.values() if v.dtype.kind == "f"]
        assert all(np.isfinite(values).all() for values in numbers)
