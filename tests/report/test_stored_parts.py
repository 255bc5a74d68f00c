"""What page and report show of the stored results."""

from dataclasses import replace
from pathlib import Path

import pytest
from same_page import assert_same_page

from freqdyna.experiments import overview, registry, reproduce, store, tables
from freqdyna.experiments.parts.controls import guide
from freqdyna.report import page, sources

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


def test_the_tables_that_help_to_choose_are_what_the_stored_results_say():
    page = (ROOT / "docs" / "which-search-control.md").read_text()
    command = "freqdyna reproduce guide --out results/reproduce --page docs/which-search-control.md"
    assert command in page
    computed_tables = guide.tables(registry.find("C"), ROOT / STORED)
    assert computed_tables.pop("guide, in short")  # in the README, which has a test of its own
    for name, text in computed_tables.items():
        computed = overview.replaced(page, text, name)
        # Rows with names in code have computed numbers here, which may be rounded differently.
        assert_same_page(page.replace("`", ""), computed.replace("`", ""))
    wanted = {unit.name for unit in registry.find("C").units(False)}
    stored = wanted & reproduce.stored(registry.find("C"), ROOT / STORED).keys()
    assert f"{len(stored)} of its {len(wanted)} trainings" in page


def test_the_papers_parts_come_with_claims_and_origins():
    report = sources.gather(
        [ROOT / STORED, ROOT / "results/explorer"], "freqdyna report", lambda _: None
    )
    names = [section.name for section in report.sections]
    assert {"E1", "F3", "F5", "S"} <= set(names)
    assert names[-2:] == ["runs", "comparison"]
    for section in report.sections[:-2]:
        assert section.claims
        assert section.origins
        assert section.chart["panels"]
    f3 = report.sections[names.index("F3")]
    assert len(f3.chart["panels"]) == 8
    assert len(f3.chart["panels"][0]["marks"][0]["seeds"]) == 100
    assert all(claim.own == ("learned model − ER" in claim.what) for claim in f3.claims)
    assert all(claim.own for claim in report.sections[names.index("S")].claims)
    assert [explorer["env"] for explorer in report.explorers] == ["MountainCar-v0", "MazeGridWorld"]
    assert len(page.page(report)) < 5e6
