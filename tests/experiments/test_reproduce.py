from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from freqdyna.cli import main
from freqdyna.errors import FreqdynaError
from freqdyna.experiments import registry, report, reproduce, store
from freqdyna.experiments.base import Experiment, Findings, Unit
from freqdyna.experiments.claims import Claim
from freqdyna.stopping import InterruptedRun

ROOT = Path(__file__).parents[2]
STORED = Path("results/reproduce")


def toy(log, seeds=3):
    def compute(work):
        log.append("computed")
        work.report(1, 1)
        return {"name": np.array(["a"] * seeds), "number": np.arange(seeds, dtype=np.float16)}

    def analyse(units):
        mean = units["part"].columns["number"].mean()
        claim = Claim("mean", "1", f"{mean:g}", "", "holds", "accuracy")
        return Findings(Figure(), [claim], ("A note.",))

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


def test_what_another_size_left_unfinished_is_not_taken_up(tmp_path):
    def experiment(seeds, stop):
        def compute(work):
            found = [path.name for path in work.folder.iterdir()]
            (work.folder / "checkpoint").touch()
            if stop:
                raise InterruptedRun
            return {"resumed": np.array([len(found)])}

        units = [Unit("part", {"seeds": seeds}, compute)]
        return Experiment("toy", "", lambda quick: units, lambda units: Findings(Figure(), []))

    with pytest.raises(InterruptedRun):
        reproduce.reproduce(experiment(3, stop=True), tmp_path, quick=False)
    for seeds, resumed in ((4, 0), (3, 1)):
        out = experiment(seeds, stop=False)
        reproduce.reproduce(out, tmp_path, quick=False)
        assert reproduce.stored(out, tmp_path)["part"].columns["resumed"].tolist() == [resumed]
        (tmp_path / "toy" / "part.parquet").unlink()


def test_a_unit_that_stops_keeps_the_ones_before_it(tmp_path):
    log = []
    experiment = toy(log)
    first = experiment.units(False)[0]

    def stop(work):
        raise KeyboardInterrupt

    broken = replace(experiment, units=lambda quick: [first, Unit("late", {}, stop)])
    with pytest.raises(InterruptedRun, match="the same command goes on"):
        reproduce.reproduce(broken, tmp_path, quick=False)
    kept = store.read(tmp_path / "toy", first)
    assert kept is not None
    assert kept.columns["number"].tolist() == [0, 1, 2]
    assert not (tmp_path / "toy" / "late.parquet").exists()
    reproduce.reproduce(experiment, tmp_path, quick=False)
    assert log == ["computed"]


def test_a_quick_example_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["reproduce", "E1", "--quick"])
    printed = capsys.readouterr().out
    assert "64 π²" in printed
    main(["reproduce", "E1", "--quick"])
    assert "analysing what is stored" in capsys.readouterr().out
    main(["reproduce", "table", "--out=runs/reproduce-quick", "--page=page.md"])
    page = Path("page.md").read_text()
    assert "| ∫ \\|f_sin′\\|² over [−2, 0) | 64 π² | 64 π² |" in page
    assert "(runs/reproduce-quick/E1/figure.png)" in page
    main(["reproduce", "list"])
    printed = capsys.readouterr().out
    for name in registry.PARTS:
        assert f"\n  {name} " in f"\n{printed}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["F9"], "unknown part of the paper 'F9'"),
        (["X3"], "X3 is not built yet; those that are: E1, "),
        (["A2"], "A2 is no experiment: freqdyna train --algorithm dyna-value"),
        (["E1", "--page=x.md"], "page is 'x.md'; it goes with the name 'table' alone"),
    ],
)
def test_bad_names_are_refused_in_one_sentence(arguments, message, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["reproduce", *arguments])
    assert exited.value.code == 2
    assert message in capsys.readouterr().err


def test_the_page_is_what_the_stored_results_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    page = Path("docs/reproduction.md")
    assert page.read_text() == report.page(STORED, page)
    for name, part in registry.PARTS.items():
        if part.experiment:
            assert reproduce.is_stored(registry.find(name), STORED)


def test_a_quick_run_gives_no_verdict(tmp_path, capsys):
    main(["reproduce", "E1", "--quick", "--out", str(tmp_path)])
    told = capsys.readouterr().out
    assert "none: quick" in told
    assert "does not hold" not in told.split("Rule:")[0]
    main(["reproduce", "E1", "--out", str(tmp_path / "full")])
    told = capsys.readouterr().out.split("Rule:")[0]
    assert told.count("holds") == 2
    assert "does not hold" not in told
