"""Comparisons of what is stored at locations; that of sweeps is in `test_sweep_local`."""

import numpy as np
import pytest
from hand_made import result

import freqdyna
from freqdyna.cli.main import main


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Three runs in the folder `runs`, two of which have the same settings."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    for place, (name, algorithm) in enumerate([("a", "er"), ("b", "er"), ("c", "dyna-value")]):
        returns = generator.normal(10 * place, 1, (4, 5))
        result(returns, algorithm=algorithm).save(f"runs/{name}")
    return tmp_path


def labels(comparison):
    return [run.label for run in comparison.environments[0].runs]


def test_runs_are_found_at_locations_and_told_apart(folders):
    comparison = freqdyna.compare("runs", folders / "runs/a")  # a is read once
    assert labels(comparison) == ["er (runs/a)", "er (runs/b)", "dyna-value"]
    loaded = freqdyna.load("runs/a"), freqdyna.load("runs/b")
    assert labels(freqdyna.compare(*loaded)) == ["er (run 1)", "er (run 2)"]
    assert labels(freqdyna.compare({"mine": loaded[0]}, "runs/c")) == ["mine", "dyna-value"]
    assert labels(freqdyna.compare(*loaded, names=["x", "y"])) == ["x", "y"]
    with pytest.raises(freqdyna.FreqdynaError, match="names has 1 names; it must have one for"):
        freqdyna.compare(*loaded, names=["x"])
    main(["plot", "runs", "--out", "curves.png"])
    assert (folders / "curves.png").is_file()


def test_the_command_prints_a_table_and_writes_files(folders, capsys):
    main(
        [
            *[
                "compare",
                "runs/a",
                "runs/c",
                "--out",
                "c.pdf",
                "--table",
                "c.csv",
                "c.tex",
                "--threshold",
                "5",
            ]
        ]
    )
    printed = capsys.readouterr().out
    assert "2 − 1" in printed
    assert "to 5.00" in printed
    assert "With 4 and 4 seeds, a difference is shown" in printed
    assert printed.endswith("table: c.csv\ntable: c.tex\nfigure: c.pdf\n")
    assert (folders / "c.pdf").read_bytes().startswith(b"%PDF")
    assert (folders / "c.csv").is_file()
    assert (folders / "c.tex").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "runs is empty; it must have at least two runs, or a sweep"),
        (["runs/a"], "it must have at least two runs in the same environment"),
        (["runs/a", "nowhere"], "'nowhere' has no training; it must be a run folder, a folder of"),
        (["runs/a", "runs/b", "--out=c"], "out is 'c'; it must end in .png, .pdf or .svg"),
        (["runs/a", "runs/b", "--table=c.txt"], "table is 'c.txt'; it must end in .csv or .tex"),
        (["runs/a", "runs/b", "--baseline=dyna"], "unknown baseline 'dyna'; known, nearest"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, message, folders, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["compare", *arguments])
    assert exited.value.code == 2
    assert message in capsys.readouterr().err
