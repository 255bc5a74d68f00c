"""Pages of numbers, compared so that a test does not depend on how a CPU rounds."""

import re
from decimal import Decimal

NUMBER = re.compile(r"(?:(?<![\w)\]])[-+−])?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
CLAIM_CELLS = 5
"""What, paper, ours, interval, verdict."""


def assert_same_page(ours, theirs):
    """The same words, and computed numbers within one unit of the last digit that is printed.

    A number whose next digit is a five is rounded up on one CPU and down on another. Numbers that
    are not computed here must be equal: those of headings, commands, origins and pictures, and of
    the first, second and last cell of a row of claims.
    """
    assert len(ours.splitlines()) == len(theirs.splitlines())
    for our_line, their_line in zip(ours.splitlines(), theirs.splitlines(), strict=True):
        if our_line[:1] in ("#", "!") or "`" in our_line:
            assert our_line == their_line
        our_cells, their_cells = our_line.split(" | "), their_line.split(" | ")
        assert our_cells[0] == their_cells[0] or not our_line.startswith("|")
        if len(our_cells) == CLAIM_CELLS:
            assert (our_cells[1], our_cells[-1]) == (their_cells[1], their_cells[-1])
        assert NUMBER.sub("#", our_line) == NUMBER.sub("#", their_line)
        pairs = zip(NUMBER.findall(our_line), NUMBER.findall(their_line), strict=True)
        for our_number, their_number in pairs:
            (one, unit), (other, _) = value_and_unit(our_number), value_and_unit(their_number)
            assert abs(one - other) <= unit, f"{our_number} and {their_number} in {our_line}"


def value_and_unit(printed):
    """A number and the unit of its last digit, exactly."""
    number = Decimal(printed.replace(",", "").replace("−", "-"))
    return number, Decimal(1).scaleb(number.as_tuple().exponent)
