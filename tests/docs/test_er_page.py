"""What docs/algorithms/er.md says about stuck seeds on two CPUs is what the stored runs say."""

from pathlib import Path

import numpy as np
import pytest

from reproduction.store import runs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "algorithms" / "er.md").read_text()
STUCK = -1000


@pytest.mark.parametrize(
    ("folder", "label"),
    [("version-0.2", "version 0.2 on that CPU"), ("intel", "version 0.2 on an Intel CPU")],
)
def test_returns_and_stuck_seeds_are_those_of_the_stored_run(folder, label):
    stored = runs(ROOT / "results" / "warm-up.parquet")
    run = stored[f"mountain-car-er-after-the-warm-up-{folder}"]
    areas = run.returns[:, run.steps > run.config.warmup_steps].mean(axis=1)
    error = areas.std(ddof=1) / np.sqrt(len(areas))
    stuck = int((run.returns.max(axis=1) <= STUCK).sum())
    numbers = f"−{-areas.mean():.0f} ± {error:.0f}, {stuck} of {len(areas)} stuck"
    assert f"| the same, {label} | | {numbers} |" in PAGE
