from pathlib import Path

import pytest

from freqdyna.experiments import registry, reproduce

STORED = Path(__file__).parents[2] / "results" / "reproduce"


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [("E1", ["holds"] * 2), ("E2", ["holds"] * 2), ("U", [*["holds"] * 3, "does not hold"])],
)
def test_the_exact_statements(name, verdicts):
    findings = reproduce.analyse(registry.find(name), STORED)
    assert [claim.verdict for claim in findings.claims] == verdicts


def test_the_theorem_holds_where_f_vanishes_on_the_boundary_and_nowhere_else():
    claims = reproduce.analyse(registry.find("T1"), STORED).claims
    verdicts = {claim.what: claim.verdict for claim in claims}
    assert len(verdicts) == 12
    for what, verdict in verdicts.items():
        exact = "f and ∇f vanish" in what or ("first order" in what and "∇f does not" in what)
        assert verdict == ("holds" if exact else "does not hold"), what


def test_the_papers_shares_are_within_sampling_error():
    claims = reproduce.analyse(registry.find("F2"), STORED).claims
    shares = [claim for claim in claims if claim.rule == "sampling"]
    assert [claim.paper for claim in shares] == ["65.35%", "68.97%", "18.17%", "27.45%"]
    assert {claim.verdict for claim in shares} == {"holds"}


@pytest.mark.parametrize("name", ["E1", "E2", "T1", "U", "F1", "F2", "B"])
def test_what_is_stored_comes_from_a_commit(name):
    for unit in reproduce.stored(registry.find(name), STORED).values():
        assert len(unit.provenance["commit"]) == 40
        assert unit.provenance["command"] == f"freqdyna reproduce {name} --out results/reproduce"
        assert not unit.provenance["resumed"]
