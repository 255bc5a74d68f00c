"""The overview on claims with known verdicts; `make docs` writes the page itself."""

from reproduction import pages, run
from reproduction.claims import Claim, Statement

AHEAD = Statement("it is ahead")


def claim(verdict, paper="above 0", statement=AHEAD, **by_interpretation):
    return Claim(statement, "", paper, "", "", verdict, "", "", by_interpretation)


def summed(*claims):
    return [(row.verdict, row.details) for row in pages.rows_of(run.find("F3"), claims)]


def test_claims_of_one_statement_share_a_row():
    one = claim("holds", first="holds", second="holds")
    assert summed(one, one) == [("holds", "2 claims, both interpretations")]
    assert summed(one) == [("holds", "both interpretations")]
    assert summed(claim("holds"), claim("undecided")) == [("mixed", "1 holds, 1 undecided")]
    assert summed(claim("undecided"), claim("undecided")) == [("undecided", "2 claims")]
    other = claim("does not hold", statement=Statement("something else"))
    assert summed(claim("holds"), other) == [("holds", ""), ("does not hold", "")]


def test_a_claim_that_holds_under_no_interpretation_is_not_supported():
    one = claim("depends", first="undecided", second="does not hold")
    two = claim("depends", first="holds", second="does not hold")
    assert [summed(of)[0][0] for of in (one, two)] == ["not supported", "depends"]
