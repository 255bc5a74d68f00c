"""What earlier versions wrote is read."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import freqdyna
from freqdyna.sweeps.sweep import FILE, Sweep

STORED = Path(__file__).parent / "v0.3"


def test_a_run_folder_of_0_3():
    result = freqdyna.load(STORED / "run")
    assert result.provenance["versions"]["freqdyna"] == "0.3.0"
    assert (result.config.algorithm, result.config.env) == ("dyna", "GridWorld")
    assert result.config.flat()["model.hidden"] == (4, 4)
    np.testing.assert_array_equal(result.seeds, [0, 1])
    np.testing.assert_array_equal(result.steps, [30, 60])
    np.testing.assert_array_equal(result.returns, np.full((2, 2), -50.0))
    assert result.policy(seed=1)(np.float32([0.5, 0.5])) in range(4)


@pytest.mark.parametrize("renamed", [False, True])
def test_a_sweep_of_0_3(tmp_path, renamed):
    """Also if units have other names, as after a change of a default."""
    folder = shutil.copytree(STORED / "sweep", tmp_path / "sweep")
    if renamed:
        for i, unit in enumerate((folder / "units").iterdir()):
            renamed_unit = unit.rename(unit.with_name(f"{i:016x}"))
        shutil.copytree(renamed_unit, folder / "units" / "copy")  # no seed counts twice
    assert Sweep.read(folder / FILE, allow_code=False).seeds == 2
    results = freqdyna.load_sweep(str(folder))
    assert list(results) == [
        f"algorithm {algorithm}, planning_steps {updates}"
        for algorithm in ("er", "dyna-frequency")
        for updates in (1, 2)
    ]
    for name, result in results.items():
        settings = result.config.flat()
        assert name == ", ".join(f"{k} {settings[k]}" for k in ("algorithm", "planning_steps"))
        assert result.returns.shape == (2, 2)
