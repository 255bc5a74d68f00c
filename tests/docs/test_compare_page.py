"""The page about comparisons shows what the stored runs say."""

from pathlib import Path

from same_page import assert_same_page

import freqdyna
from reproduction.store import runs

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_stored_runs(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = (ROOT / "docs" / "compare.md").read_text()
    shown = page.partition("```text\n")[2].partition("```")[0]
    printed = str(freqdyna.compare(*runs(ROOT / "results" / "mountain-car.parquet").values()))
    assert_same_page(shown, printed.partition("\nBrackets")[0])
