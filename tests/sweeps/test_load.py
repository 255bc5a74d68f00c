"""Comparisons of what is stored at locations."""

import numpy as np
import pytest
from hand_made import Instant, result
from small import SWEEP

import freqdyna
from freqdyna.cli.main import main
from freqdyna.sweeps.execute import execute_sweep
from freqdyna.sweeps.storage import Storage
from freqdyna.sweeps.sweep import Sweep


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


def test_runs_at_locations_have_names_that_differ(folders):
    comparison = freqdyna.compare("runs", folders / "runs/a")  # a is read once
    assert labels(comparison) == ["er (runs/a)", "er (runs/b)", "dyna-value"]
    loaded = freqdyna.load("runs/a"), freqdyna.load("runs/b")
    assert labels(freqdyna.compare(*loaded)) == ["er (run 1)", "er (run 2)"]
    assert labels(freqdyna.compare({"mine": loaded[0]}, "runs/c")) == ["mine", "dyna-value"]
    assert labels(freqdyna.compare(*loaded, names=["x", "y"])) == ["x", "y"]
    with pytest.raises(freqdyna.FreqdynaError, match="names"):
        freqdyna.compare(*loaded, names=["x"])


def test_the_combinations_of_a_sweep_are_compared(tmp_path):
    execute_sweep(Sweep.parse(SWEEP), Storage(str(tmp_path)), Instant())
    [pair] = freqdyna.compare(tmp_path).pairs
    assert pair.first.label.endswith("0.003")
    assert pair.second.label.endswith("0.001")
    main(["plot", str(tmp_path)])
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_writes_files(folders):
    main(["compare", "runs/a", "runs/c", "--out", "c.pdf", "--table", "c.csv", "c.tex"])
    assert {"c.pdf", "c.csv", "c.tex"} < {path.name for path in folders.iterdir()}
    for arguments in (["runs/a"], ["runs/a", "runs/b", "--baseline=dyna"]):
        with pytest.raises(SystemExit, match="2"):
            main(["compare", *arguments])
