"""Hyper-parameter search: deterministic, resumable, several trials in one program."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import TEXT, Here, tables

import freqdyna
from freqdyna.cli.main import main
from freqdyna.cli.sweep import RunSweep
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.result import Result
from freqdyna.sweeps.execute import UnitProgress, store
from freqdyna.sweeps.search import batches, known_units, search, trials_so_far
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep
from freqdyna.training.engines import Engine, Local, TaskOutcome

SEARCH = """
[search]
trials = 4
together = 2

[search.space]
learning_rate = {low = 0.0001, high = 0.1, log = true}
exploration = {low = 0.0, high = 0.5}
"""
VARY = "[vary]\nlearning_rate = [0.001, 0.003]\n"


def text_of(search_table):
    return TEXT.replace(VARY, search_table).replace("12_000", "600").replace("3_000", "300")


def test_a_search_is_the_same_wherever_it_runs_and_goes_on(tmp_path):
    text = text_of(SEARCH).replace("number = 2", "number = 1")
    sweep = Sweep.parse(text)
    one, two = Storage(str(tmp_path / "one")), Storage(str(tmp_path / "two"))
    trials = search(text, sweep, one, Here())
    assert len(trials) == 4
    assert len({trial.settings["learning_rate"] for trial in trials}) == 4
    assert len(tables(tmp_path / "one")) == 4  # of one seed each
    next(batches(sweep, two))
    fewer = Sweep.parse(text.replace("trials = 4", "trials = 2"))
    search(text, fewer, two, Here())
    assert [trial.state for trial in trials_so_far(sweep, two)] == ["done"] * 2 + ["waiting"] * 2
    assert search(text, sweep, two, Local(1)) == trials == trials_so_far(sweep, two)
    assert {unit.name for unit in known_units(sweep, two)} == set(tables(tmp_path / "two"))
    again = tables(tmp_path / "two")
    losses = {name: table["loss"].to_numpy() for name, table in tables(tmp_path / "one").items()}
    for name, loss in losses.items():
        np.testing.assert_array_equal(loss, again[name]["loss"].to_numpy())
    assert len({loss.tobytes() for loss in losses.values()}) == 4  # each its own
    results = freqdyna.load_sweep(str(tmp_path / "two"))
    tried = trials[3].settings
    name = f"trial 3: learning_rate {tried['learning_rate']}, exploration {tried['exploration']}"
    assert list(results)[3] == name
    assert results[name].seeds.tolist() == [0]
    assert results[name].config.learning_rate == tried["learning_rate"]


class Choosy(Engine):
    """Has results at once, but for batches of 8."""

    def slots(self):
        return 1

    def run(self, tasks):
        for task in tasks:
            location, units, _ = task.compute.args
            if units[0].config.batch_size == 8:
                yield TaskOutcome(task.name, "OSError: too large")
                continue
            for unit in units:
                metrics = {"return": np.ones((1, 2))}
                no_parameters = np.zeros((1, 0), np.float32)
                result = Result(
                    unit.config, {}, np.arange(1), np.array([300, 600]), metrics, no_parameters, ()
                )
                store(Storage(location), unit, result)
            yield TaskOutcome(task.name)


def test_failed_trials_are_told_from_those_to_come(tmp_path, monkeypatch, capsys):
    text = with_two_sizes().replace("number = 2", "number = 1")
    file, out = tmp_path / "search.toml", tmp_path / "out"
    file.write_text(text)
    storage = Storage(str(out))
    assert [trial.state for trial in trials_so_far(Sweep.parse(text), storage)] == ["waiting"] * 4
    monkeypatch.setattr(RunSweep, "_engine", lambda self: Choosy())
    with pytest.raises(SystemExit) as exited:
        main(["sweep", str(file), "--out", str(out)])
    assert exited.value.code == 1
    trials = trials_so_far(Sweep.parse(text), storage)
    states = {trial.settings["batch_size"]: trial.state for trial in trials}
    assert states == {4: "done", 8: "failed"}
    failed = [trial for trial in trials if trial.state == "failed"]
    assert f"{len(failed)} of 4 trials failed; freqdyna status shows why" in capsys.readouterr().err
    main(["status", str(out)])
    assert f"0 waiting, {len(failed)} failed" in capsys.readouterr().out


def with_two_sizes():
    space = "[search.space]\nbatch_size = {choices = [4, 8]}"
    text = text_of(SEARCH).replace("batch_size = 4\n", "").replace("[search.space]", space)
    return text.replace("together = 2", "together = 4")


def test_trials_of_one_form_are_one_program():
    units = next(batches(Sweep.parse(with_two_sizes()), Storage("memory://nothing")))
    assert len(units) == 8  # four trials, two blocks of seeds
    programs = {}
    for unit in units:
        programs.setdefault(unit.program or unit.name, []).append(unit.config)
    for configs in programs.values():
        assert len({(config.batch_size, config.first_seed) for config in configs}) == 1
    assert any(len(configs) > 1 for configs in programs.values())


def test_a_program_goes_on_from_a_checkpoint_of_its_own_alone(tmp_path):
    storage, scratch = Storage(str(tmp_path / "out")), tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "checkpoint-0000000300.npz").write_bytes(b"of the program")
    first, second = Sweep.parse(text_of(SEARCH)).units()
    together = [replace(unit, program="p" * 16) for unit in (first, second)]
    progress = UnitProgress(storage, together, scratch)
    progress.update(300, None)
    assert {f"{unit.name}.json" for unit in together} < set(storage.files("running"))
    for units, number in (([first], 0), (together, 1)):
        elsewhere = tmp_path / str(number)
        elsewhere.mkdir()
        UnitProgress(storage, units, elsewhere).fetch()
        assert len(list(elsewhere.iterdir())) == number
    progress.remove()
    assert storage.files("running") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("trials = 4", "trials = 0"), r"trials in \[search\] is 0; it must be an integer"),
        (("together = 2", 'objective = "best"'), r"objective in \[search\] is 'best'; it must be"),
        (("together = 2", "parallel = 3"), r"unknown setting of \[search\] 'parallel'"),
        (("0.0001", "0.0"), r"learning_rate in \[search.space\] is .* it must be \{low"),
        (("high = 0.5", "high = 1.5"), "exploration is 1.5; it must be between 0 and 1"),
        (("exploration =", "exploratio ="), "unknown setting 'exploratio'"),
        (("exploration =", "hidden ="), r"hidden is in \[settings\] and in \[search.space\]"),
        (("[search]", "[vary]\nmodel = ['true']\n[search]"), "omit one"),
    ],
)
def test_bad_searches_are_refused(change, message):
    with pytest.raises(FreqdynaError, match=message):
        Sweep.parse(text_of(SEARCH).replace(*change))
