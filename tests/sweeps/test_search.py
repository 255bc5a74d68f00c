"""Hyper-parameter search: deterministic, resumable, several trials in one program."""

from dataclasses import replace

import numpy as np
import pytest
from hand_made import Instant
from small import SWEEP
from sweeping import Here, assert_complete, stored

import freqdyna
from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep
from freqdyna.sweeps.execute import UnitProgress
from freqdyna.sweeps.search import batches, search, trials_so_far
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep

SEARCH = """
[search]
trials = 4
together = 2

[search.space]
learner.learning_rate = {low = 0.0001, high = 0.1, log = true}
exploration = {low = 0.0, high = 0.5}
"""
TEXT = SWEEP.replace("[vary]\nlearner.learning_rate = [0.001, 0.003]\n", SEARCH)
SIZES = "[search.space]\nbatch_size = {choices = [4, 8]}"
TWO_SIZES = TEXT.replace("batch_size = 4\n", "").replace("[search.space]", SIZES)
TWO_SIZES = TWO_SIZES.replace("together = 2", "together = 4")


@pytest.mark.slow
def test_a_search_that_is_interrupted_is_the_same(tmp_path):
    text = TEXT.replace("number = 2", "number = 1")
    sweep = Sweep.parse(text)
    one, two = Storage(str(tmp_path / "one")), Storage(str(tmp_path / "two"))
    trials = search(sweep, one, Here())
    assert len({trial.settings["learner.learning_rate"] for trial in trials}) == 4
    next(batches(sweep, two))
    fewer = Sweep.parse(text.replace("trials = 4", "trials = 2"))
    search(fewer, two, Here())
    assert [trial.state for trial in trials_so_far(sweep, two)] == ["done"] * 2 + ["waiting"] * 2
    assert search(sweep, two, Here()) == trials == trials_so_far(sweep, two)
    units = stored(tmp_path / "one")
    assert_complete(tmp_path / "two", units)
    assert len({unit["loss"].tobytes() for unit in units.values()}) == 4  # each its own
    results = list(freqdyna.load_sweep(str(tmp_path / "two")).values())
    assert results[3].config["learner.learning_rate"] == trials[3].settings["learner.learning_rate"]
    assert results[3].seeds.tolist() == [0]


def test_failed_trials_differ_from_those_to_come(tmp_path, monkeypatch, capsys):
    text = TWO_SIZES.replace("number = 2", "number = 1")
    file, out = tmp_path / "search.toml", tmp_path / "out"
    file.write_text(text)
    sweep, storage = Sweep.parse(text), Storage(str(out))
    assert [trial.state for trial in trials_so_far(sweep, storage)] == ["waiting"] * 4
    monkeypatch.setattr(RunSweep, "_engine", lambda self: Instant())
    with pytest.raises(SystemExit, match="1"):
        main(["sweep", str(file), "--out", str(out)])
    trials = trials_so_far(sweep, storage)
    states = {trial.settings["batch_size"]: trial.state for trial in trials}
    assert states == {4: "done", 8: "failed"}


def test_trials_of_one_form_are_one_program():
    units = next(batches(Sweep.parse(TWO_SIZES), Storage("memory://nothing")))
    assert len(units) == 8  # four trials, two blocks of seeds
    programs = {}
    for unit in units:
        programs.setdefault(unit.program or unit.name, []).append(unit.config)
    for configs in programs.values():
        assert len({(config["batch_size"], config.first_seed) for config in configs}) == 1
    assert any(len(configs) > 1 for configs in programs.values())


def test_a_program_goes_on_from_a_checkpoint_of_its_own_alone(tmp_path):
    storage, scratch = Storage(str(tmp_path / "out")), tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "checkpoint-0000000300.npz").write_bytes(b"of the program")
    first, second = Sweep.parse(TEXT).units()
    together = [replace(unit, program="p" * 16) for unit in (first, second)]
    progress = UnitProgress(storage, together, scratch)
    progress.update(300, "")
    assert {f"{unit.name}.json" for unit in together} < set(storage.files("running"))
    for units, number in (([first], 0), (together, 1)):
        elsewhere = tmp_path / str(number)
        elsewhere.mkdir()
        UnitProgress(storage, units, elsewhere).fetch()
        assert len(list(elsewhere.iterdir())) == number
    progress.remove()
    assert storage.files("running") == []


def test_the_objective_is_the_mean_over_seeds(tmp_path):
    trials = search(Sweep.parse(TEXT), Storage(str(tmp_path)), Instant())
    for trial in trials:  # of seeds 0 and 1
        np.testing.assert_allclose(trial.value, 100 * trial.settings["learner.learning_rate"] + 0.5)
