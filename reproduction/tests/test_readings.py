"""A claim under several interpretations of the paper."""

from reproduction.claims import Claim
from reproduction.readings import judge_under_all


def claims_of(verdicts):
    return [Claim(what, "above 0", f"{what} {v}", v, v, "comparison") for what, v in verdicts]


def judged(first, second):
    groups = {"from step 1": [("a", first)], "after warm-up": [("a", second)]}
    (claim,) = judge_under_all(groups, claims_of)
    return claim


def test_a_claim_holds_only_if_it_holds_under_both():
    assert judged("holds", "holds").verdict == "holds"
    assert judged("does not hold", "does not hold").verdict == "does not hold"
    assert judged("undecided", "undecided").verdict == "undecided"
    for pair in (("holds", "undecided"), ("does not hold", "holds"), ("undecided", "holds")):
        claim = judged(*pair)
        assert claim.verdict == "depends"
        assert claim.ours.endswith(f"from step 1: {pair[0]} | after warm-up: {pair[1]}")
        assert claim.interval == " | ".join(pair)
        assert list(claim.by_reading.values()) == list(pair)


def test_all_comparisons_are_judged_at_once():
    """So that the correction is for the number of all of them."""
    calls = []

    def judge(comparisons):
        calls.append(len(comparisons))
        return claims_of(comparisons)

    rows = [("a", "holds"), ("b", "undecided")]
    found = judge_under_all({"one": rows, "other": rows}, judge)
    assert calls == [4]
    assert [claim.what for claim in found] == ["a", "b"]


def test_one_interpretation_alone_changes_nothing():
    rows = [("a", "holds")]
    assert judge_under_all({"one": rows}, claims_of) == claims_of(rows)
