"""The tables of what holds, on claims with known verdicts."""

import pytest

from freqdyna import FreqdynaError
from reproduction import overview
from reproduction.claims import Claim
from reproduction.statements import STATEMENTS

WALLS = ("walls inside", "walls outside", "clip")


def claim(what, verdict, paper="above 0", **by_reading):
    return Claim(what, paper, "", "", verdict, "comparison", by_reading)


def found(part, *claims):
    return [(row.statement, row.verdict, row.details) for row in overview.rows_of(part, claims)]


def test_claims_of_one_statement_share_a_row():
    ahead = "MountainCar: Dyna-Frequency is ahead of ER, PrioritizedER and Dyna-Value"
    both = {"first": "holds", "second": "holds"}
    claims = [claim(f"Dyna-Frequency − ER, area, d = {d}, σ = 0", "holds", **both) for d in (1, 2)]
    assert found("F3", *claims) == [(ahead, "holds", "2 claims, both interpretations")]
    assert found("F3", claims[0]) == [(ahead, "holds", "both interpretations")]
    alone = [claim("Dyna-Frequency − ER, area, d = 10, σ = 0", v) for v in ("holds", "undecided")]
    assert found("F3", *alone) == [(ahead, "mixed", "1 holds, 1 undecided")]
    assert found("F3", alone[1], alone[1]) == [(ahead, "undecided", "2 claims")]


def test_a_claim_that_no_statement_describes_has_a_row_of_its_own():
    assert found("F3", claim("something else", "does not hold")) == [
        ("something else", "does not hold", "")
    ]


def test_what_differs_between_interpretations_is_named():
    names = ["Dyna-Value − PrioritizedER, area, d = 10", "Dyna-Value − PrioritizedER, area, d = 30"]
    claims = [
        claim(names[0], "depends", first="undecided", second="holds"),
        claim(names[1], "undecided", first="undecided", second="undecided"),
    ]
    ((_, verdict, details),) = found("F3", *claims)
    assert verdict == "depends"
    assert details == "2 undecided (first); 1 holds, 1 undecided (second)"
    many = dict.fromkeys(WALLS, "undecided") | {"last": "holds"}
    ((_, verdict, details),) = found("F8", claim("share near the goal", "depends", **many))
    assert (verdict, details) == ("depends", "holds (last); undecided (the other 3)")
    unnamed = found("F8", claim("share near the goal", "depends"))
    assert unnamed[0][1:] == ("depends", "depends")


def test_a_claim_that_holds_under_no_interpretation_is_not_supported():
    one = claim("share near the goal", "depends", first="undecided", second="does not hold")
    ((_, verdict, _),) = found("F8", one)
    assert verdict == "not supported"
    two = claim("share near the goal", "depends", first="holds", second="does not hold")
    ((_, verdict, _),) = found("F8", two)
    assert verdict == "depends"


def test_two_interpretations_that_exchange_verdicts_do_not_hide_each_other():
    claims = [
        claim("Dyna-Value − PrioritizedER, a", "depends", first="undecided", second="holds"),
        claim("Dyna-Value − PrioritizedER, b", "depends", first="holds", second="undecided"),
    ]
    ((_, verdict, details),) = found("F3", *claims)
    assert verdict == "depends"
    assert details == "1 holds, 1 undecided under each interpretation, but not the same ones"


def test_an_interpretation_can_be_part_of_the_name_of_a_claim():
    """As in S, where each claim is about one of them."""
    claims = [claim(f"{r}: share near a hole, in percent", "undecided") for r in WALLS]
    ((_, verdict, details),) = found("S", *claims)
    assert (verdict, details) == ("undecided", "3 interpretations")
    ((_, verdict, details),) = found("S", *claims, claim("queue: share near a hole, x", "holds"))
    assert (verdict, details) == ("depends", "holds (queue); undecided (the other 3)")


def test_own_questions_are_separate():
    rows = overview.rows_of(
        "F4",
        [
            claim("Dyna-Frequency − Dyna-Value, area", "holds", paper="-"),
            claim("Dyna-Frequency − Dyna-Value, final", "holds", paper="above 0 (own check)"),
            claim("Dyna-Frequency − Dyna-Value, text", "holds"),
        ],
    )
    assert [(row.own, row.details) for row in rows] == [(True, "2 claims"), (False, "")]
    assert all(row.own for row in overview.rows_of("S", [claim("anything", "holds")]))


def test_statements_can_be_told_apart():
    texts = [text for statements in STATEMENTS.values() for text in statements.values()]
    assert len(texts) == len(set(texts))


def test_the_tables_of_a_page_are_replaced():
    begin, end = overview.lines_of("overview")
    page = f"# Title\n{begin}\nold\n{end}\nafter\n"
    assert overview.replaced(page, "new\n") == page.replace("old", "new")
    with pytest.raises(FreqdynaError, match="no lines"):
        overview.replaced("# Title\n", "new\n")
