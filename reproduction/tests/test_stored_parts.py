"""What page and report show of the stored results."""

from dataclasses import replace
from pathlib import Path

import pytest
from same_page import assert_same_page

from reproduction import overview, registry, reproduce, store, tables

ROOT = Path(__file__).parents[2]
STORED = Path("results/reproduce")


@pytest.fixture(scope="module", autouse=True)
def analysed_once():
    """Reading and analysing take long, and page and report show the same."""
    decode, decoded = store._decode, {}

    def decode_once(path, unit):
        place = path.resolve(), unit.folder
        if place not in decoded:
            decoded[place] = decode(path, unit)
        return decoded[place]

    def once(experiment):
        found = []

        def analyse(units):
            if not found:
                found.append(experiment.analyse(units))
            return found[0]

        return replace(experiment, analyse=analyse)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "_decode", decode_once)
        for name, part in registry.PARTS.items():
            if part.experiment:
                patched.setitem(
                    registry.PARTS, name, replace(part, experiment=once(part.experiment))
                )
        yield


def test_pages_are_compared_by_words_and_by_numbers_to_the_last_digit():
    page = "| a − b, 1 | 20 | −18,382 | [-1.50, 2e-05] | holds |"
    assert_same_page(page, page.replace("18,382", "18,383").replace("2e", "3e"))
    assert_same_page("+0.00", "-0.01")
    for line in ("## F1", "`freqdyna reproduce F1`, 20 trainings", "![f](F1/figure.png)"):
        with pytest.raises(AssertionError):
            assert_same_page(line, line.replace("F1", "F2"))
    for old, new in (
        ("holds", "undecided"),
        ("a − b, 1", "a − b, 2"),
        ("| 20 |", "| 21 |"),
        ("18,382", "18,384"),
        ("−18", "18"),
        ("1.50", "1.52"),
        ("1.50", "1.50, 1.50"),
        ("2e-05", "2e-04"),
        ("| holds |", "| holds |\n|"),
    ):
        with pytest.raises(AssertionError):
            assert_same_page(page, page.replace(old, new))


def test_the_page_is_what_the_stored_results_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    file = Path("docs/reproduction.md")
    assert_same_page(file.read_text(), tables.page(STORED, file))
    experiments = [name for name, part in registry.PARTS.items() if part.experiment]
    missing = [n for n in experiments if not reproduce.is_stored(registry.find(n), STORED)]
    assert not missing


def test_the_tables_of_what_holds_are_what_the_stored_results_say():
    page = (ROOT / "docs" / "findings.md").read_text()
    command = "freqdyna reproduce overview --out results/reproduce --page docs/findings.md"
    assert command in page
    assert overview.replaced(page, overview.tables(ROOT / STORED)) == page, f"run {command}"
