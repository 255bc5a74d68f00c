"""A1, on episodes whose lengths are known."""

import numpy as np

from reproduction import a1
from reproduction.a1 import EPISODES, UPDATES
from reproduction.study import Stored, Unit

SEEDS = 8


def stored(first_short_episode, short=17):
    """Episodes of 500 steps before an episode, and short ones from there on."""
    lengths = np.where(np.arange(1, EPISODES + 1) < first_short_episode, 500, short)
    spread = np.random.default_rng(first_short_episode).integers(3, size=(SEEDS, EPISODES))
    return Stored(Unit("", {}), {"length": (lengths + spread).ravel()}, {})


def test_more_updates_make_episodes_shorter():
    firsts = dict(zip(UPDATES, (25, 5, 3), strict=True))
    units = {f"updates-{updates}": stored(first) for updates, first in firsts.items()}
    found = a1.analyse(units)
    assert {claim.verdict for claim in found.claims} == {"holds"}
    assert [row[-2] for row in found.summary[1:]] == [str(first) for first in firsts.values()]
    assert [len(row) for row in found.summary] == [3 + len(a1.SHOWN)] * 4


def test_an_episode_that_was_not_completed_has_no_length():
    columns = {"length": np.array([[5] * (EPISODES - 1) + [0]]).ravel()}
    found = a1.lengths(Stored(Unit("", {}), columns, {}))
    assert np.isnan(found[0, -1])
    assert (found[0, :-1] == 5).all()
