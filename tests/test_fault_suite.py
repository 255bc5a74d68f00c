"""The fault suite tells good outcomes from bad ones, and its damage is damage."""

import random

import pytest

from faults import damage
from faults.trial import LOST, TRACEBACK, WRONG, fault_in


@pytest.mark.parametrize(
    ("code", "text", "fault"),
    [
        (0, "results: runs/er", None),
        (2, "freqdyna: steps is -1; it must be 1 or greater", None),
        (1, "freqdyna: the disk is full", None),
        (1, "", WRONG),
        (-11, "", LOST),
        (1, "Traceback (most recent call last):\nOSError", TRACEBACK),
        (0, "Traceback (most recent call last):\nOSError", TRACEBACK),
    ],
)
def test_commands_are_judged_by_status_and_output(code, text, fault):
    assert fault_in(code, text) == fault


@pytest.mark.parametrize("kind", sorted(set(damage.KINDS), key=lambda kind: kind.__name__))
def test_damage_is_damage_and_can_be_repeated(kind):
    contents = random.Random(0).randbytes(5000)
    damaged = kind(contents, random.Random(1))
    assert damaged != contents
    assert damaged == kind(contents, random.Random(1))
