"""The notebook of the documentation, run as a reader would, but for fewer steps."""

from pathlib import Path

from notebook_page import as_markdown
from run_notebook import executed

TOUR = Path(__file__).parents[2] / "docs" / "tour.ipynb"


def test_the_tour_runs_and_shows_its_pictures(tmp_path, monkeypatch):
    # Programs of its own: what another process is about to write would be told of as damaged.
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    _, stored = as_markdown(TOUR)
    notebook = executed(TOUR, {"SEEDS, STEPS = 4, 10_000": "SEEDS, STEPS = 2, 40"})
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    drawn = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(drawn) == len(stored) == 5
    assert not [output for output in outputs if output.get("name") == "stderr"]
