import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_units import inverses

from freqdyna.cli.main import main
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.lock import locked_folder
from freqdyna.results import provenance
from freqdyna.results.chart import Chart, Panel
from freqdyna.training.interrupts import InterruptedRun
from reproduction import registry, reproduce, store
from reproduction.base import Experiment, Findings, Unit
from reproduction.claims import Claim
from reproduction.parts.e2 import units as e2


def toy(log, seeds=3):
    def compute(work):
        log.append("computed")
        work.report(1, 1)
        return {"name": np.array(["a"] * seeds), "number": np.arange(seeds, dtype=np.float16)}

    def analyse(units):
        mean = units["part"].columns["number"].mean()
        claim = Claim("mean", "1", f"{mean:g}", "", "holds", "accuracy")
        return Findings(Chart([Panel()]), [claim], notes=("A note.",))

    units = [Unit("part", {"seeds": seeds}, compute)]
    return Experiment("toy", "seconds", lambda quick: units, analyse)


def test_what_is_stored_is_not_computed_again(tmp_path):
    log = []
    for _ in range(2):
        findings = reproduce.reproduce(toy(log), tmp_path, quick=False)
        assert findings.claims[0].ours == "1"
    assert log == ["computed"]
    assert (tmp_path / "toy" / "figure.png").read_bytes().startswith(b"\x89PNG")
    stored = reproduce.stored(toy(log), tmp_path)["part"]
    assert stored.settings == {"seeds": 3}
    assert {"command", "commit", "machine", "date", "seconds"} <= set(stored.provenance)
    assert sorted(p.name for p in (tmp_path / "toy").iterdir()) == ["figure.png", "part.parquet"]


def test_other_settings_and_damaged_files_are_refused(tmp_path):
    reproduce.reproduce(toy([]), tmp_path, quick=False)
    with pytest.raises(FreqdynaError, match=r"other settings, \{'seeds': 3\}"):
        reproduce.reproduce(toy([], seeds=4), tmp_path, quick=False)
    path = tmp_path / "toy" / "part.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FreqdynaError, match="is damaged"):
        reproduce.reproduce(toy([]), tmp_path, quick=False)
    with pytest.raises(FreqdynaError, match="is missing; compute it with"):
        reproduce.stored(toy([]), tmp_path / "elsewhere")


def resumable(seeds, stop, checkpoint=True):
    """One unit that counts what it can go on from, leaves a checkpoint, and may stop there."""

    def compute(work):
        found = list(work.folder.glob("checkpoint*"))
        if checkpoint:
            (work.folder / "checkpoint").touch()
        if stop:
            raise InterruptedRun
        return {"resumed": np.array([len(found)])}

    units = [Unit("part", {"seeds": seeds}, compute)]
    return Experiment("toy", "", lambda quick: units, lambda units: Findings(Chart([Panel()]), []))


def test_what_another_size_left_unfinished_is_not_taken_up(tmp_path):
    with pytest.raises(InterruptedRun):
        reproduce.reproduce(resumable(3, stop=True), tmp_path, quick=False)
    for seeds, resumed in ((4, 0), (3, 1)):
        out = resumable(seeds, stop=False)
        reproduce.reproduce(out, tmp_path, quick=False)
        stored = reproduce.stored(out, tmp_path)["part"]
        assert stored.columns["resumed"].tolist() == [resumed]
        assert stored.provenance["resumed"] == bool(resumed)
        (tmp_path / "toy" / "part.parquet").unlink()


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_resumed_unit_names_the_commits_that_began_it(checkpoint, tmp_path, monkeypatch):
    """And only one that went on from something counts as resumed."""
    for commit in ("first", "second", "second"):
        monkeypatch.setattr(provenance, "commit", lambda commit=commit: commit)
        with pytest.raises(InterruptedRun):
            reproduce.reproduce(resumable(3, stop=True, checkpoint=checkpoint), tmp_path)
    monkeypatch.setattr(provenance, "commit", lambda: "last")
    last = resumable(3, stop=False)
    reproduce.reproduce(last, tmp_path)
    facts = reproduce.stored(last, tmp_path)["part"].provenance
    assert facts["commit"] == "last"
    assert facts["resumed"] == checkpoint
    assert facts.get("earlier_commits") == (["first", "second"] if checkpoint else None)


@pytest.mark.parametrize("contents", ["[" * 100_000, "{}", '{"commits": 3}', '{"commits": ["a"]}'])
def test_damaged_commits_do_not_block_a_unit(contents, tmp_path):
    with pytest.raises(InterruptedRun):
        reproduce.reproduce(resumable(3, stop=True), tmp_path)
    [commits] = tmp_path.rglob("commits.json")
    commits.write_text(contents)
    reproduce.reproduce(resumable(3, stop=False), tmp_path)
    facts = reproduce.stored(resumable(3, stop=False), tmp_path)["part"].provenance
    assert facts["earlier_commits"] == (["a"] if '"a"' in contents else ["unknown"])


def test_a_unit_is_computed_by_one_process_at_a_time(tmp_path):
    with pytest.raises(InterruptedRun):
        reproduce.reproduce(resumable(3, stop=True), tmp_path)
    [scratch] = tmp_path.rglob("*.unfinished")
    for folder in (scratch, tmp_path / "toy"):
        (folder / ".part.parquet.123-ab.partial").touch()  # of a process that was killed
    other = tmp_path / "toy" / ".another.parquet.123-ab.partial"  # of one that may be running
    other.touch()
    with locked_folder(scratch), pytest.raises(FreqdynaError, match="is working on; wait for it"):
        reproduce.reproduce(resumable(3, stop=False), tmp_path)
    reproduce.reproduce(resumable(3, stop=False), tmp_path)
    assert list(tmp_path.rglob(".*.partial")) == [other]


def test_a_file_of_another_size_is_not_what_is_asked_for(tmp_path):
    reproduce.reproduce(toy([]), tmp_path)
    assert reproduce.is_stored(toy([]), tmp_path)
    assert not reproduce.is_stored_otherwise(toy([]), tmp_path)
    assert not reproduce.is_stored(toy([], seeds=4), tmp_path)
    assert reproduce.is_stored_otherwise(toy([], seeds=4), tmp_path)
    assert not reproduce.is_stored_otherwise(toy([]), tmp_path / "elsewhere")
    path = tmp_path / "toy" / "part.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    assert not reproduce.is_stored(toy([]), tmp_path)
    assert not reproduce.is_stored_otherwise(toy([]), tmp_path)
    assert reproduce.damaged(toy([]), tmp_path) == [path]


@pytest.mark.parametrize("where", ["middle", "end"])
def test_a_damaged_file_is_told_of(where, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["reproduce", "E1", "--quick", "--out=here"])
    path = Path("here/E1/integrals.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20] if where == "end" else whole[:4] + bytes(40) + whole[44:])
    capsys.readouterr()
    main(["reproduce", "list", "--quick", "--out=here"])
    state = f"damaged: {path}; remove it to recompute it"
    assert state in capsys.readouterr().out.splitlines()[0]
    main(["reproduce", "table", "--quick", "--out=here", "--page=page.md"])
    assert f"| E1 | {registry.PARTS['E1'].title} | {state} |" in Path("page.md").read_text()
    assert f"freqdyna: E1 is not shown; {state}" in capsys.readouterr().err


def test_a_unit_that_stops_keeps_the_ones_before_it(tmp_path):
    log = []
    experiment = toy(log)
    first = experiment.units(False)[0]

    def stop(work):
        raise KeyboardInterrupt

    broken = replace(experiment, units=lambda quick: [first, Unit("late", {}, stop)])
    with pytest.raises(InterruptedRun, match="the same command resumes"):
        reproduce.reproduce(broken, tmp_path, quick=False)
    kept = store.read(tmp_path / "toy", first)
    assert kept.columns["number"].tolist() == [0, 1, 2]
    assert not (tmp_path / "toy" / "late.parquet").exists()
    reproduce.reproduce(experiment, tmp_path, quick=False)
    assert log == ["computed"]


def without_findings(units):
    return Experiment("toy", "", lambda quick: units, lambda units: Findings(Chart([Panel()]), []))


def test_units_are_computed_in_processes_of_their_own(tmp_path, capsys):
    together, one = tmp_path / "together", tmp_path / "one by one"
    experiment, names = without_findings(inverses(1, 2)), ["part 1", "part 2"]
    reproduce.reproduce(experiment, together, processes=2)
    told = capsys.readouterr().out
    assert "2 of 2 parts: " in told
    assert all(f"{name} done" in told for name in names)
    reproduce.reproduce(experiment, one)
    stored = [reproduce.stored(experiment, out) for out in (together, one)]
    for name in names:
        for column, values in stored[0][name].columns.items():
            np.testing.assert_array_equal(values, stored[1][name].columns[column])


def test_units_of_every_part_can_be_sent_to_another_process():
    for part in registry.PARTS.values():
        for unit in part.experiment.units(True) if part.experiment else []:
            sent = pickle.loads(pickle.dumps(unit))
            assert (sent.name, sent.settings) == (unit.name, unit.settings)


def test_of_units_in_processes_those_that_fail_are_named(tmp_path, capsys):
    """And the others are stored; the same call tries again."""
    units = inverses(0, 1, 2)
    with pytest.raises(FreqdynaError, match="1 of 3 parts failed; part 0: ZeroDivisionError"):
        reproduce.reproduce(without_findings(units), tmp_path, processes=2)
    stored = [store.read(tmp_path / "toy", unit) for unit in units]
    assert [None if one is None else one.columns["inverse"].tolist() for one in stored] == [
        None,
        [1.0],
        [0.5],
    ]


def test_a_quick_example_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["reproduce", "E1", "--quick"])
    printed = capsys.readouterr().out
    assert "64 π²" in printed
    main(["reproduce", "E1", "--quick"])
    assert "analysing the results stored" in capsys.readouterr().out
    main(["reproduce", "table", "--quick", "--page=page.md"])
    page = Path("page.md").read_text()
    assert "table --quick --out runs/reproduce-quick" in page
    assert "| ∫ \\|f_sin′\\|² over [−2, 0) | 64 π² | 64 π² |" in page
    assert "| none: quick |" in page
    assert "- The error is the relative error" in page
    assert "(runs/reproduce-quick/E1/figure.png)" in page
    capsys.readouterr()
    for size, state in (([], "freqdyna reproduce E1"), (["--quick"], "computed, in runs/")):
        main(["reproduce", "list", *size])
        printed = capsys.readouterr().out
        for name in registry.PARTS:
            assert f"\n  {name} " in f"\n{printed}"
        assert f" {state}" in printed.splitlines()[0]


def test_a_reader_may_leave_before_the_end():
    """As `freqdyna reproduce list | head -1` does: no traceback, no failure."""
    command = [sys.executable, "-m", "freqdyna", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        told = process.stderr.read()
    assert told == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["F9"], "unknown part of the paper 'F9'"),
        (["A2"], "A2 is not an experiment: freqdyna train --algorithm dyna-value"),
        (["E1", "--page=x.md"], "page is 'x.md'; it can only be used with 'table', 'overview'"),
        (["table", "--page=no/x.md"], "page is 'no/x.md'; it must be a file in a folder that"),
        (["table", "--page=."], "page is '.'; it must be a file in a folder that exists"),
        (["list", "--seeds=5"], "seeds is 5; 'list' computes nothing, so omit it"),
        (["table", "--processes=2"], "processes is 2; 'table' computes nothing"),
        (["list", "--verify"], "verify is True; 'list' computes nothing"),
        (["F3", "--verify", "--dry-run"], "dry_run is True; verify computes something"),
        (["F3", "--verify", "--quick"], "verify is True; it needs the full size"),
        (["overview", "--quick"], "quick is True; 'overview' needs the full size"),
        (["F3", "--seeds=0"], "seeds is 0; it must be an integer, 1 or greater"),
        (["F1", "--seeds=5"], "seeds is 5; F1 has its own number of seeds, 50"),
        (["all", "--verify"], "verify is True; it cannot be used with 'all'"),
        (["all", "--seeds=5"], "seeds is 5; it cannot be used with 'all'"),
        (["B", "--verify"], "verify is for experiments that consist of trainings"),
    ],
)
def test_bad_names_are_refused_in_one_sentence(arguments, message, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["reproduce", *arguments])
    assert exited.value.code == 2
    assert message in capsys.readouterr().err


def test_a_dry_run_lists_what_would_be_computed(tmp_path, capsys):
    main(["reproduce", "F8", "--dry-run", "--out", str(tmp_path)])
    name, *lines = capsys.readouterr().out.splitlines()
    assert name == "F8:"
    assert len(lines) == 20
    assert lines[-1].endswith("  100 seeds  50,000 steps  MazeGridWorld-dyna-value")
    assert all(line.split()[0] == "missing" for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_a_quick_run_gives_no_verdict(tmp_path, capsys):
    main(["reproduce", "E1", "--quick", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert "none: quick" in told
    assert "does not hold" not in told.split("Rule:")[0]
    main(["reproduce", "E1", "--out", str(tmp_path / "full")])
    told = capsys.readouterr().out.split("Rule:")[0]
    assert told.count("holds") == 2
    assert "does not hold" not in told


def test_all_is_one_part_after_the_other(tmp_path, capsys, monkeypatch):
    few = {name: registry.PARTS[name] for name in ("E1", "A2", "E2")}
    monkeypatch.setattr(registry, "PARTS", few)
    monkeypatch.setattr(e2, "ORDERS", (1,))
    main(["reproduce", "all", "--quick", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert told.index("results and figure: " + str(tmp_path / "E1")) < told.index("E2")
    assert (tmp_path / "E2" / "figure.png").is_file()
